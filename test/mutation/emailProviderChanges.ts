import type { Change } from './changes.ts';

const CALLBACK = ['test/providers/resendCallback.test.ts'];
const EVENTS = 'providers/resend/events.ts';

/** Faults in the providers of e-mail. */
export const EMAIL_PROVIDER_CHANGES: readonly Change[] = [
  {
    name: 'an e-mail goes to Resend without a key',
    file: 'providers/resend/provider.ts',
    from: "headers: { 'idempotency-key': email.id },",
    to: 'headers: {},',
    tests: ['test/providers/resendSubmits.test.ts'],
  },
  {
    name: 'a callback of Resend’s counts whoever signed it',
    file: EVENTS,
    from: 'new Webhook(webhookSecret).verify(body, signed, { jsonParse: false });',
    to: 'new Webhook(webhookSecret);',
    tests: CALLBACK,
  },
  {
    name: 'a forged body is hashed in JavaScript',
    file: EVENTS,
    from: 'body.length > BODY_MAX || !isHashedRight(webhookSecret, signed, body)',
    to: 'body.length > BODY_MAX',
    tests: CALLBACK,
    only: 'not hashed in JavaScript',
  },
  {
    name: 'a callback of Resend’s is good a little longer than five minutes',
    file: EVENTS,
    from: 'const TOLERANCE_MS = 300_000;',
    to: 'const TOLERANCE_MS = 300_500;',
    tests: CALLBACK,
  },
  {
    name: 'a return path is ours whatever it was made with',
    file: 'providers/smtp/returnPath.ts',
    from: 'return isOurs ?',
    to: 'return isOurs || body !== undefined ?',
    tests: ['test/providers/smtpBounces.test.ts'],
    only: 'not ours',
  },
  {
    name: 'whoever knows a return path brings as many messages as they like',
    file: 'providers/smtp/listener.ts',
    from: 'about().add(emailId);',
    to: '',
    tests: ['test/providers/smtpBounces.test.ts'],
    only: 'so many messages',
  },
  {
    name: 'every 5.x.x in a report is a dead address',
    file: 'providers/smtp/deadAddresses.ts',
    from: 'return DEAD.has(said);',
    to: "return said.startsWith('5');",
    tests: ['test/providers/smtpBounces.test.ts'],
    only: 'says that the address is dead',
  },
  {
    name: 'a policy of the relay’s is a dead address',
    file: 'providers/smtp/deadAddresses.ts',
    from: 'NO_MAILBOX.has(code) : DEAD.has(enhanced)',
    to: 'NO_MAILBOX.has(code) : true',
    tests: ['test/providers/smtpFaults.test.ts'],
    only: 'will never take anything',
  },
  {
    name: 'hidden recipients see each other where `to` is empty',
    file: 'providers/resend/body.ts',
    from: '{ to: [from.address], cc: [], bcc }',
    to: '{ to: bcc, cc: [], bcc: [] }',
    tests: ['test/providers/resendSubmits.test.ts'],
    only: 'nobody left',
  },
  {
    name: 'hidden recipients are named in a header',
    file: 'providers/smtp/provider.ts',
    from: 'cc: written(cc) };',
    to: 'cc: written([...cc, ...bcc]) };',
    tests: ['test/providers/smtpMessages.test.ts'],
    only: 'hidden|unsubscribe',
  },
  {
    name: 'the one-click header of RFC 8058 is not signed',
    file: 'providers/smtp/signature.ts',
    from: "    'List-Unsubscribe-Post',\n",
    to: '',
    tests: ['test/providers/smtpMessages.test.ts'],
    only: 'hidden|unsubscribe',
  },
];
