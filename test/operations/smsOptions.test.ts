import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { acceptMessages, type NewMessage } from '../../db/messages/accept.ts';
import { isGsm7 } from '../../domain/gsm7.ts';
import type { Routing } from '../../domain/routing.ts';
import type { SubmitPart } from '../../domain/submission.ts';
import { acceptingOf, type SendInput } from '../../operations/sending/send.ts';
import { newMessages } from '../../operations/sending/newMessages.ts';
import { planMessages } from '../../operations/sending/plan.ts';
import { startDatabase } from '../support/database.ts';
import { askedSend, submitBy } from '../support/submitting.ts';

const ROUTING: Routing = {
  routes: [
    { kind: 'simulator', state: 'active', working: true, simulated: false, name: 'texts', carries: ['sms'] },
  ],
  rules: [{ prefix: '', accountId: null, type: null, priority: null, weight: 1, route: 'texts' }],
};
const ACCOUNT = newId('cl');
const TO = '+48500100200';

let sql: Database;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ sql, stop } = await startDatabase());
  await sql`insert into accounts (id, name, mode, price_per_part_grosze) values (${ACCOUNT}, 'Sklep', 'live', 10)`;
  await sql`insert into ledger_entries (account_id, kind, amount_grosze) values (${ACCOUNT}, 'opening', 10000)`;
  await sql`insert into routes (name, kind) values ('texts', 'simulator')`;
  await sql`
    insert into contacts (id, account_id, msisdn, first_name) values (${newId('ct')}, ${ACCOUNT}, ${TO}, 'Świętopełk')`;
});
afterAll(() => stop());

const sending = (input: Omit<SendInput, 'to'>) => askedSend(sql, ACCOUNT, ROUTING, { to: TO, ...input });

/** Accepts a send, and submits it: what was billed, and what left. */
async function sent(input: Omit<SendInput, 'to'>): Promise<{ message: NewMessage; parts: SubmitPart[] }> {
  const request = sending(input);
  const plan = await planMessages(request);
  const messages = await newMessages(request, plan);
  await acceptMessages(sql, acceptingOf(request, plan, messages, []));
  const message = messages[0]!;
  const { parts } = await submitBy(sql, 'texts', message.id);
  expect(parts).toHaveLength(message.parts);
  expect(parts.map(({ text }) => text).join('')).toBe(message.text);
  expect(message.costGrosze).toBe(10 * message.parts);
  return { message, parts };
}

test.each([
  ['ucs2', 'a'.repeat(70), 1],
  ['ucs2', 'a'.repeat(71), 2],
  ['ucs2', 'ą'.repeat(71), 2],
  ['gsm7', 'a'.repeat(160), 1],
  ['gsm7', 'a'.repeat(161), 2],
] as const)('what has to go as %s is billed so and leaves so', async (encoding, text, count) => {
  const { message, parts } = await sent({ text, encoding });
  expect(message.parts).toBe(count);
  expect(parts.map((part) => part.encoding)).toEqual(parts.map(() => encoding));
});

test('what is not told how to go goes as its text needs it', async () => {
  expect((await sent({ text: 'a'.repeat(160) })).parts).toMatchObject([{ encoding: 'gsm7', content: null }]);
  expect((await sent({ text: 'ą' })).parts).toMatchObject([{ encoding: 'ucs2', content: null }]);
});

test.each([
  ['Zażółć', 3],
  ['a 😀 b', 3],
  ['Drogi {{imie}}', 7],
])('%s cannot go as GSM-7, and the refusal says where', async (text, position) => {
  const planned = planMessages(sending({ text, encoding: 'gsm7' }));
  await expect(planned).rejects.toMatchObject({
    refusal: { reason: 'text_not_gsm7', position },
    param: 'text',
  });
});

test('a normalized text is GSM-7 as a whole, with what contacts and links put into it', async () => {
  const text = '„Cześć” {{imie}} {{link:https://example.com/ż}} {{opt_out}}'.padEnd(150, 'ż');
  for (const encoding of [undefined, 'ucs2', 'gsm7'] as const) {
    const { message, parts } = await sent({ text, encoding, normalize: true });
    expect(message.text).toMatch(/^"Czesc" Swietopelk \S+\/l\/\w+ \S+\/o\/\w+z+$/);
    expect(isGsm7(message.text)).toBe(true);
    expect(parts.every((part) => part.encoding === 'gsm7')).toBe(true);
  }
});

test('what becomes longer by it is counted as long as it is', async () => {
  const { message } = await sent({ text: '…'.repeat(60), normalize: true });
  expect([message.text, message.parts]).toEqual(['...'.repeat(60), 2]);
});

test('what normalizing leaves nothing of is refused as empty', async () => {
  await expect(planMessages(sending({ text: '\u0301\u200b', normalize: true }))).rejects.toMatchObject({
    refusal: { reason: 'text_blank' },
  });
});

test('a literal text goes as it is written', async () => {
  const { message } = await sent({ text: 'Kod {{imie}} {{ {{link:x}}', literal: true });
  expect(message.text).toBe('Kod {{imie}} {{ {{link:x}}');
});

test('a flash message says so in each of its parts', async () => {
  const { parts } = await sent({ text: 'ą'.repeat(100), flash: true });
  expect(parts).toMatchObject([{ content: { flash: true } }, { content: { flash: true } }]);
});
