import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { closedProvider } from '../../providers/provider.ts';
import { providerKind } from '../../providers/kind.ts';

/** The header that the courier signs its calls in. */
export const SIGNATURE = 'x-courier-signature';

const settings = z.strictObject({
  host: z.string(),
  bags: z.int().min(1).max(9).default(1),
  ourUrl: z.url().optional(),
  allowed: z.array(z.string()).default([]),
});
const credentials = z.strictObject({ courierId: z.string(), key: z.string().min(4) });
const event = z.object({ id: z.string(), delivered: z.boolean() });

/** How the courier signs a body. */
export const signatureOf = (key: string, body: string | Buffer): string =>
  createHmac('sha256', key).update(body).digest('hex');

/**
 * A kind of provider that nothing outside this file knows of: it takes everything, calls with signed JSON, and unsigned at a
 * path that another kind has, too.
 */
export const courier = providerKind({
  name: 'courier',
  channels: ['sms', 'mms'],
  looksUp: false,
  settings,
  options: {
    host: { placeholder: 'HOST', about: 'the courier’s yard', read: { as: 'text' } },
    bags: { placeholder: 'N', about: 'how many; default 1', read: { as: 'number', min: 1, max: 9 } },
  },
  credentials,
  secret: {
    bare: 'key',
    options: { courierId: { placeholder: 'ID', about: 'whose key it is', read: { as: 'text' } } },
  },
  callbacks: {
    base: ({ ourUrl }) => ourUrl,
    guard: ({ allowed }, { key }) => ({
      secrets: [],
      addresses: allowed,
      async signed(call) {
        const given = Buffer.from(String(call.headers[SIGNATURE]));
        const right = Buffer.from(signatureOf(key, await call.body()));
        return given.length === right.length && timingSafeEqual(given, right);
      },
    }),
    calls: {
      events: {
        path: 'courier-events',
        async read(call) {
          const read = event.safeParse(JSON.parse((await call.body()).toString()));
          if (!read.success) return null;
          const { id, delivered } = read.data;
          const state = delivered ? 'delivered' : 'undelivered';
          return {
            kind: 'reports',
            reports: [{ providerMessageId: id, reference: null, state, errorCode: null }],
          };
        },
      },
      unsigned: { path: ':secret/reports', read: () => Promise.resolve({ kind: 'reports', reports: [] }) },
    },
  },
  open: ({ name, settings: { bags } }) => {
    const closed = closedProvider(name, null);
    return Promise.resolve({
      ...closed,
      submit: async (part, leave) =>
        (await leave())
          ? { kind: 'accepted' as const, providerMessageId: `courier-${part.reference}` }
          : { kind: 'withheld' as const },
      state: () => ({ ...closed.state(), takesSubmits: true, window: bags }),
    });
  },
  test: ({ host }, { key }) =>
    Promise.resolve(
      key === 'wrong' ? { ok: false, problem: 'no such key' } : { ok: true, answer: `waits at ${host}` },
    ),
});
