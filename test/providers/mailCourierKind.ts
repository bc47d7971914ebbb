import { timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { ownRecords } from '../../domain/email/dns.ts';
import { closedProvider } from '../../providers/provider.ts';
import { providerKind } from '../../providers/kind.ts';
import { SIGNATURE, signatureOf } from './courierKind.ts';

const kinds = z.enum(['sent', 'delivered', 'bounced', 'complained', 'delayed', 'opened', 'clicked']);
const event = z.object({
  event: z.string(),
  kind: kinds,
  ours: z.string().nullable(),
  theirs: z.string().nullable(),
  to: z.array(z.string()),
  at: z.iso.datetime(),
});

/** A kind that carries e-mail alone, and reports what becomes of it by signed calls. */
export const mailCourier = providerKind({
  name: 'mail-courier',
  channels: [],
  looksUp: false,
  settings: z.strictObject({}),
  options: {},
  credentials: z.strictObject({ key: z.string().min(4) }),
  secret: { bare: 'key', options: {} },
  email: {
    domains: { by: 'us', records: (_settings, domain) => ownRecords(domain, 'mail.courier.invalid') },
    callback: {
      async signed({ key }, call) {
        const given = Buffer.from(String(call.headers[SIGNATURE]));
        const right = Buffer.from(signatureOf(key, await call.body()));
        return given.length === right.length && timingSafeEqual(given, right);
      },
      async read(call) {
        const read = event.safeParse(JSON.parse((await call.body()).toString()));
        if (!read.success) return null;
        const { event: eventId, kind, ours, theirs, to, at } = read.data;
        const permanent = kind === 'bounced' ? true : null;
        const payload = { ...read.data };
        return [
          {
            eventId,
            kind,
            permanent,
            payload,
            emailId: ours,
            providerEmailId: theirs,
            addresses: to,
            at: new Date(at),
          },
        ];
      },
    },
  },
  open: ({ name }) => Promise.resolve(closedProvider(name, null)),
  test: () => Promise.resolve({ ok: true, answer: 'waits' }),
});
