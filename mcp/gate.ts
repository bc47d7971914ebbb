import type { Context } from '../api/http/serve.ts';
import type { Services } from '../api/services.ts';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Whether a request is meant for this service: by its `Host`, and from a browser by its `Origin`. A page of others that a name of
 * theirs leads to this machine must not be able to use a server that trusts whoever is near (DNS rebinding).
 */
export function isMeantForUs({ headers }: Context, { publicUrl, mcpUrl }: Services): boolean {
  const { host, origin } = headers;
  const hosts = [publicUrl, mcpUrl].filter((url) => url !== null).map((url) => new URL(url).hostname);
  return isOneOf(hosts, `http://${host ?? ''}`) && (origin === undefined || isOneOf(hosts, origin));
}

function isOneOf(hosts: readonly string[], address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { hostname } = new URL(address);
  return LOOPBACK.has(hostname) || hosts.includes(hostname);
}
