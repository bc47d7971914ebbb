import { changeRoute, type Route } from '../../../db/routes/routes.ts';
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
 * `callbackUrl` is not set. Null for a kind without callbacks.
 */
export async function callbackAddresses(
  route: Pick<Route, 'name' | 'kind' | 'settings' | 'credentials'>,
  tools: Tools,
): Promise<Record<string, string> | null> {
  const kind = await kindOfRoute(route.kind);
  if (kind.callbacks === undefined) return null;
  const settings = await checkSettings(route.kind, plainSettings(route));
  return kind.callbacks(route.name, settings, await openCredentials(route, tools));
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
    const { ownSecret } = await kindOfRoute(route.kind);
    if (ownSecret === undefined) throw refused(`A route of kind ${route.kind} is called by nobody.`);
    if (secret === 'new' || secret === 'replace') {
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
