import { changeRoute, type Route } from '../../../db/routes/routes.ts';
import { type CallbackGuard, callbackAddress } from '../../../providers/callbacks.ts';
import { command, optional, required, type Outcome } from '../command.ts';
import { refused } from '../problems.ts';
import { openCredentials, renewOwnSecret } from './credentials.ts';
import { checkSettings, kindOfRoute } from './kinds.ts';
import { holdRoute, plainSettings } from './lookup.ts';
import type { Tools } from '../tools.ts';
import { oneOf, routeName } from '../values.ts';

export const CALLBACK_REMARK =
  'The callback addresses contain a secret: enter them at the provider and keep them out of tickets and mails.';

/**
 * The addresses at which a provider tells us of reports, replies and look-ups, by what they are for; paths alone where
 * no address of our API is set. Null for a kind without callbacks.
 */
export async function callbackAddresses(
  route: Pick<Route, 'name' | 'kind' | 'settings' | 'credentials'>,
  tools: Tools,
): Promise<Record<string, string> | null> {
  const kind = kindOfRoute(route);
  const { callbacks } = kind;
  if (callbacks === null) return null;
  const settings = checkSettings(kind, plainSettings(route));
  const credentials = kind.secret === null ? null : await openCredentials(route, tools);
  const { secrets } = callbacks.guard(settings, credentials);
  const base = callbacks.base(settings) ?? '';
  const addresses = Object.entries(callbacks.calls).map(([what, { path }]): [string, string] => [
    `callback_${what}`,
    callbackAddress(base, route.name, path, secrets[0]?.secret ?? ''),
  ]);
  return { ...Object.fromEntries(addresses), ...formerOf(secrets) };
}

/** Until when the addresses before are good, if they still are. */
function formerOf(secrets: CallbackGuard['secrets']): Record<string, string> {
  const until = secrets.find((secret) => Number.isFinite(secret.until))?.until ?? 0;
  return until > Date.now() ? { former_good_until: new Date(until).toISOString() } : {};
}

const callbacks = command({
  name: 'routes callbacks',
  about: 'Shows the addresses that a provider is to call; they contain a secret.',
  options: {
    name: required('NAME', 'the route', routeName),
    secret: optional(
      'keep|new|replace',
      'new: the addresses so far are good for 24 hours more; replace: they end at once; default: keep',
      oneOf('keep', 'new', 'replace'),
    ),
  },
  positional: ['name'],
  async run(sql, { name, secret }, tools): Promise<Outcome> {
    let route = await holdRoute(sql, name);
    const { callbacks: called, secret: fields } = kindOfRoute(route);
    if (called === null) throw refused(`A route of kind ${route.kind} is called by nobody.`);
    if (secret === 'new' || secret === 'replace') {
      const ownSecret = fields?.own;
      if (ownSecret === undefined)
        throw refused(`A route of kind ${route.kind} has no secret of our making.`);
      const credentials = await renewOwnSecret(route, { ownSecret, keepsFormer: secret === 'new' }, tools);
      await changeRoute(sql, name, { credentials });
      route = await holdRoute(sql, name);
    }
    return {
      result: { name, ...(await callbackAddresses(route, tools)) },
      subject: name,
      details: { secret: secret ?? 'keep' },
      remark: CALLBACK_REMARK,
    };
  },
});

export const routeCallbackCommands = [callbacks];
