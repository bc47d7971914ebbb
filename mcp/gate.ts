import type { Context } from '../api/http/serve.ts';
import type { Services } from '../api/services.ts';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Whether a request is meant for this service: by its `Host`, and from a browser by its `Origin`. A page of others that a name of
 * theirs leads to this machine must not be able to use a server that trusts whoever is near (DNS rebinding).
 */
export function isMeantForUs({ headers }: Context, { publicUrl }: Services): boolean {
  const { host, origin } = headers;
  return isOurs(`http://${host ?? ''}`, publicUrl) && (origin === undefined || isOurs(origin, publicUrl));
}

function isOurs(address: string, publicUrl: string | null): boolean {
  if (!URL.canParse(address)) return false;
  const { hostname } = new URL(address);
  if (LOOPBACK.has(hostname)) return true;
  return publicUrl !== null && hostname === new URL(publicUrl).hostname;
}
