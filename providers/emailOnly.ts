import type { EmailGate } from './email.ts';
import type { Provider } from './provider.ts';

/** A provider that carries e-mail and nothing else. @param rest what it does beside handing over */
export function emailOnly(
  name: string,
  email: EmailGate,
  rest: Pick<Provider, 'start' | 'state' | 'stop'>,
): Provider {
  return {
    ...{ name, email, takesWhole: true },
    // No message is routed to it.
    submit: () => Promise.resolve({ kind: 'broken', code: 'no_messages' }),
    lookup: () => Promise.resolve({ kind: 'failed' }),
    ...rest,
  };
}
