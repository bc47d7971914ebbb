import { type CallbackAddresses, handOutCallbacks } from '../../../operations/routes/callbacks.ts';
import { command, optional, required, type Shown } from '../command.ts';
import { oneOf, routeName } from '../values.ts';

export const CALLBACK_REMARK =
  'The callback addresses contain a secret: enter them at the provider and keep them out of tickets and mails.';

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
  async ask(asking, { name, secret = 'keep' }): Promise<Shown> {
    const given = await handOutCallbacks({ ...asking, input: { route: name, secret } });
    return { result: { name, ...callbackRecord(given) }, remark: CALLBACK_REMARK };
  },
});

export const routeCallbackCommands = [callbacks];

/** Callback addresses as the command line shows them. */
export function callbackRecord({ addresses, formerUntil }: CallbackAddresses): Record<string, unknown> {
  const shown = Object.entries(addresses).map(([what, address]): [string, string] => [
    `callback_${what}`,
    address,
  ]);
  return {
    ...Object.fromEntries(shown),
    ...(formerUntil === null ? {} : { former_good_until: formerUntil.toISOString() }),
  };
}
