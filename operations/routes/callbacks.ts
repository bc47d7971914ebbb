import { changeRoute } from '../../db/routes/routes.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { callbackAddress } from '../../providers/callbacks.ts';
import type { ProviderKind } from '../../providers/kind.ts';
import { recorded } from '../staff.ts';
import { type Credentials, openCredentials, sealed, withNewSecret } from './credentials.ts';
import { checkedSettings, findRouteForUpdate, kindOf, type Settings, storedSettings } from './routes.ts';

/** URLs for the provider's callbacks. They contain a secret. */
export interface CallbackAddresses {
  /** By purpose; only paths if the public base URL of our API is not set. */
  addresses: Record<string, string>;
  /** When the former URLs expire; null: none are valid. */
  formerUntil: Date | null;
}

interface Input {
  route: string;
  /** `new`: the former URLs remain valid for 24 hours; `replace`: they end immediately. */
  secret: 'keep' | 'new' | 'replace';
}

/** Shows a route's callback URLs, optionally with a new secret. @throws StaffRefused also for a kind without callbacks or own secret */
export const handOutCallbacks = recorded(
  'routes callbacks',
  async (sql, { route: name, secret }: Input, { services }) => {
    const route = await findRouteForUpdate(sql, name);
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

/** The URLs that a route's provider is to call. @param route with decrypted credentials @throws StaffRefused for invalid settings */
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
