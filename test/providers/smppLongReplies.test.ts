import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createReplyParts } from '../../pipeline/replies.ts';
import type { Database } from '../../db/connection.ts';
import type { ReplyPart } from '../../domain/incoming.ts';
import { isGsm7 } from '../../domain/gsm7.ts';
import { incoming, type IncomingOptions } from '../smsc/incoming.ts';
import { startDatabase } from '../support/database.ts';
import { openProvider } from './smppProvider.ts';

let sql: Database;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ sql, stop } = await startDatabase());
});
afterAll(() => stop());

const OURS = '48500600700';
let phones = 0;
const newPhone = () => `48600${String((phones += 1)).padStart(6, '0')}`;

const storing = () => {
  const parts = createReplyParts(sql);
  return { onReplyPart: (part: ReplyPart) => parts.receive('operator', part) };
};

async function textsFrom(phone: string): Promise<string[]> {
  const rows = await sql<{ text: string }[]>`
    select received_text as text from inbound_messages where sender = ${`+${phone}`} order by id`;
  return rows.map(({ text }) => text);
}

// Cuts that fall between the septets of one character, or the halves of a surrogate pair, are among these.
const HOW: IncomingOptions[] = (['udh', 'udh16', 'sar'] as const).flatMap((header) => [
  { header, cut: 153 },
  { header, cut: 7, reference: 300 },
  { header, cut: 14, payload: true },
]);
const TEXTS = fc.oneof(
  fc.array(fc.constantFrom('a', '€', '[', 'é', '@', '\n'), { minLength: 8, maxLength: 300 }),
  fc.array(fc.constantFrom('a', 'ą', '😀', 'Ż', '€'), { minLength: 8, maxLength: 150 }),
);

test('a long reply over two sessions, in any order, however it is cut and joined: the text it was', async () => {
  const { smsc, replies } = await openProvider({ sessions: 2 }, { store: storing() });
  const cases = TEXTS.chain((chars) => {
    // NULs at the end, which are "@" in GSM-7, are no text.
    const text = `${chars.join('')}.`;
    const encoding = isGsm7(text) ? 'gsm7' : 'ucs2';
    return fc.constantFrom(...HOW).chain((how) => {
      const numbers = incoming('1', OURS, text, { ...how, encoding }).map((_, index) => index);
      const order = fc.shuffledSubarray(numbers, { minLength: numbers.length });
      return fc.record({ text: fc.constant(text), how: fc.constant({ ...how, encoding }), order });
    });
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ text, how, order }) => {
      const phone = newPhone();
      const bodies = incoming(phone, OURS, text, how);
      const whole = replies.length;
      await Promise.all(order.map((index) => smsc.deliver(bodies[index]!)));
      const said =
        bodies.length === 1 ? replies.slice(whole).map((reply) => reply.text) : await textsFrom(phone);
      expect(said).toEqual([text]);
    }),
    { seed: 12, numRuns: 12 },
  );
  expect(smsc.problems).toEqual([]);
});

test('parts that could not be stored come again, and the reply is there once', async () => {
  const stored = storing();
  let refusals = 0;
  const { smsc } = await openProvider(
    {},
    {
      store: {
        async onReplyPart(part) {
          // As when the connection to the database breaks after the commit: stored, yet not acknowledged.
          await stored.onReplyPart(part);
          if ((refusals += 1) <= 5) throw new Error('lost');
        },
      },
    },
  );
  const phone = newPhone();
  const text = 'Zażółć gęślą jaźń. '.repeat(15);
  await Promise.all(
    incoming(phone, OURS, text, { encoding: 'ucs2', cut: 134 }).map((body) => smsc.deliver(body)),
  );
  expect(await textsFrom(phone)).toEqual([text]);
  expect(smsc.redelivered).toBe(5);
});
