import { DEFAULT_CHANNEL } from '../../domain/channelDeclaration.ts';
import { INTERFACE } from '../../domain/ids.ts';
import type { OperationContext } from '../context.ts';
import type { RequestContent } from './idempotency.ts';
import { type Plan, planMessages, windowOf } from './plan.ts';
import type { SendInput } from './send.ts';

/** What tells a send from another one with its idempotency key. @param plan of the same input, if there is one */
export function contentOf(context: OperationContext<SendInput>, plan?: Plan): RequestContent {
  const { input } = context;
  return {
    written: { interface: INTERFACE, channel: DEFAULT_CHANNEL, ...input },
    resolve: async () => resolvedOf(input, plan ?? (await planMessages(context))),
  };
}

/** Values of contacts, the blacklist and prices are left out: they change what the same send comes to. */
function resolvedOf(
  input: SendInput,
  { channel, batched, sender, priority, wording, terms, messages }: Plan,
) {
  const { interface: form = INTERFACE, send_at, expires_at, reference, idx } = input;
  const { pieces, content, finish } = wording;
  const recipients = messages.map(({ recipient }) => recipient.msisdn).sort();
  const window = windowOf(input, terms);
  return {
    ...{ form, channel, batched, sender, priority, recipients, pieces, content, finish },
    ...{ send_at, window, expires_at, reference, idx },
  };
}
