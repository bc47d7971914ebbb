import { changeRoute } from '../../db/routes/routes.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { callbackAddress } from '../../providers/callbacks.ts';
import type { ProviderKind } from '../../providers/kind.ts';
import { recorded } from '../staff.ts';
import { type Credentials, openCredentials, sealed, withNewSecret } from './credentials.ts';
import { checkedSettings, holdRoute, kindOf, type Settings, storedSettings } from './routes.ts';

/** At which addresses a provider delivers reports, replies and look-ups to us. They contain a secret. */
export interface CallbackAddresses {
  /** By what they are for; paths alone where no address of our API is set. */
  addresses: Record<string, string>;
  /** Until when the addresses before are good as well; null: not any more, or there were none. */
  formerUntil: Date | null;
}

interface Input {
  route: string;
  /** `new`: the addresses so far are good for 24 hours more; `replace`: they end at once. */
  secret: 'keep' | 'new' | 'replace';
}

/**
 * Hands out the addresses that the provider of a route is to call, with a new secret where one is asked for.
 * @throws StaffRefused also for a kind that calls nobody, or without a secret of our making
 */
export const handOutCallbacks = recorded(
  'routes callbacks',
  async (sql, { route: name, secret }: Input, services) => {
    const route = await holdRoute(sql, name);
    const kind = kindOf(route);
    const { callbacks } = kind;
    if (callbacks === null) throw new StaffRefused({ reason: 'route_not_called', kind: kind.name });
    let credentials = await openCredentials(services, kind, route);
    if (secret !== 'keep') {
      credentials = renewed(kind, credentials, secret === 'new');
      await changeRoute(sql, name, { credentials: await sealed(services, name, credentials) });
    }
    const data = callbackAddresses(kind, callbacks, { name, settings: storedSettings(route), credentials });
    return { data, subject: name, details: { secret } };
  },
);

/**
 * The addresses that the provider of a route is to call.
 * @param route with its credentials in clear
 * @throws StaffRefused for settings that cannot be used
 */
export function callbackAddresses(
  kind: ProviderKind,
  callbacks: NonNullable<ProviderKind['callbacks']>,
  route: { name: string; settings: Settings; credentials: Credentials | null },
): CallbackAddresses {
  const settings = checkedSettings(kind, route.settings);
  const { secrets } = callbacks.guard(settings, route.credentials);
  const base = callbacks.base(settings) ?? '';
  const addresses = Object.entries(callbacks.calls).map(([what, { path }]): [string, string] => [
    what,
    callbackAddress(base, route.name, path, secrets[0]?.secret ?? ''),
  ]);
  const until = secrets.find((secret) => Number.isFinite(secret.until))?.until ?? 0;
  return {
    addresses: Object.fromEntries(addresses),
    formerUntil: until > Date.now() ? new Date(until) : null,
  };
}

function renewed(kind: ProviderKind, credentials: Credentials | null, keepsFormer: boolean): Credentials {
  const own = kind.secret?.own;
  if (own === undefined || credentials === null) {
    throw new StaffRefused({ reason: 'secret_not_ours', kind: kind.name });
  }
  return withNewSecret(credentials, own, keepsFormer);
}
