import { afterAll, beforeAll, expect, test } from 'vitest';
import { messageActivities } from '../../activities/messages.ts';
import type { Database } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { acceptMessages } from '../../db/messages/accept.ts';
import { readMessage } from '../../db/messages/history.ts';
import { declareChannel } from '../../domain/channels.ts';
import { messageRecord } from '../../domain/records.ts';
import type { Routing } from '../../domain/routing.ts';
import type { SubmitPart } from '../../domain/submission.ts';
import { acceptingOf, type SendInput } from '../../operations/sending/send.ts';
import { newMessages } from '../../operations/sending/newMessages.ts';
import { planMessages } from '../../operations/sending/plan.ts';
import { startDatabase } from '../support/database.ts';
import { askedSend, submitBy } from '../support/submitting.ts';

/** What is said aloud, billed by every five words. */
interface Speech {
  words: string[];
}

const WORDS_A_PART = 5;

declareChannel<Speech>({
  channel: 'vms',
  maxParts: 4,
  longest: null,
  priority: true,
  foreignAtTwice: true,
  links: true,
  senderIsNumber: false,
  escapeText: (value) => value,
  unescapeText: (written) => written,
  faultOf: () => null,
  domesticPrice: (prices) => prices.pricePerVmsGrosze,
  read: ({ text }) => ({ words: text.split(' ') }),
  measure: ({ words }) => ({
    encoding: 'ucs2',
    parts: Math.ceil(words.length / WORDS_A_PART),
    cut: String(WORDS_A_PART),
  }),
  cutAs: ({ words }, cut) => ({
    encoding: 'ucs2',
    parts: Array.from({ length: Math.ceil(words.length / Number(cut)) }, (_, index) =>
      words.slice(index * Number(cut), (index + 1) * Number(cut)).join(' '),
    ),
  }),
  show: ({ words }) => ({ text: words.join(' '), subject: `${words.length} words` }),
});

const shared = { kind: 'simulator', state: 'active', working: true, simulated: false } as const;
const any = { prefix: '', accountId: null, type: null, priority: null, weight: 1 };
/** One route carries the channel, and one does not. */
const ROUTING: Routing = {
  routes: [
    { ...shared, name: 'voice', carries: ['vms'] },
    { ...shared, name: 'texts', carries: ['sms'] },
  ],
  rules: [
    { ...any, route: 'voice' },
    { ...any, route: 'texts' },
  ],
};

const ACCOUNT = newId('cl');
const TEXT = 'jeden dwa trzy cztery pięć sześć siedem';

let sql: Database;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ sql, stop } = await startDatabase());
  await sql`
    insert into accounts (id, name, mode, price_per_part_grosze, price_per_vms_grosze, country_rates)
    values (${ACCOUNT}, 'Voice', 'live', 15, 40, '{"49": {"sms": 1, "vms": 70}}'::text::jsonb)`;
  await sql`insert into ledger_entries (account_id, kind, amount_grosze) values (${ACCOUNT}, 'opening', 1000)`;
  await sql`insert into routes (name, kind) values ('voice', 'simulator'), ('texts', 'simulator')`;
});
afterAll(() => stop());

const sending = (input: SendInput) => askedSend(sql, ACCOUNT, ROUTING, input);

async function submitted(id: string, name = 'voice'): Promise<SubmitPart[]> {
  const { parts, outcome } = await submitBy(sql, name, id);
  expect(outcome).toMatchObject({ status: 'sent' });
  return parts;
}

test('a channel that the core does not know is counted, priced, routed, charged, submitted and shown by its own rules', async () => {
  const request = sending({ channel: 'vms', to: ['+48500100200', '+4915112345678'], text: TEXT });
  const plan = await planMessages(request);
  expect(plan.messages.map(({ parts, costGrosze }) => [parts, costGrosze])).toEqual([
    [2, 80],
    [2, 140],
  ]);
  const messages = await newMessages(request, plan);
  await acceptMessages(sql, acceptingOf(request, plan, messages, []));
  const [{ balance } = { balance: 0 }] = await sql<{ balance: number }[]>`
    select balance_grosze as balance from accounts where id = ${ACCOUNT}`;
  expect(balance).toBe(780);

  const { id } = messages[0]!;
  expect(await submitted(id)).toMatchObject([
    { channel: 'vms', part: 1, parts: 2, text: 'jeden dwa trzy cztery pięć' },
    { channel: 'vms', part: 2, parts: 2, text: 'sześć siedem' },
  ]);
  const row = await readMessage(sql, ACCOUNT, id);
  expect(messageRecord(row!)).toMatchObject({ type: 'vms', parts: 2, text: TEXT, subject: '7 words' });
  expect(messages.map(({ route }) => route)).toEqual(['voice', 'voice']);
});

test('its scheduled message asks for a route of its own when its time comes', async () => {
  const inAnHour = Date.now() + 3_600_000;
  const request = sending({ channel: 'vms', to: '+48500100200', text: 'raz', send_at: inAnHour });
  const plan = await planMessages(request);
  const messages = await newMessages(request, plan);
  await acceptMessages(sql, acceptingOf(request, plan, messages, []));
  await sql`update messages set route = 'texts' where id = ${messages[0]!.id}`;
  const activities = messageActivities(sql, () => Promise.resolve(ROUTING));
  expect(await activities.release(messages[0]!.id)).toEqual({ route: 'voice' });
});

test('a message is submitted as it was cut and billed when it was accepted, though it would be cut in another way now', async () => {
  const text = 'Zażółć gęślą jaźń';
  const request = sending({ to: '+48500100200', text });
  const plan = await planMessages(request);
  const [message] = await newMessages(request, plan);
  expect(message).toMatchObject({ channel: 'sms', parts: 1, cut: 'ucs2', costGrosze: 15 });
  // As a release would have done it that put six characters into a part.
  const written = { ...message!, parts: 3, cut: 'ucs2:6,12', costGrosze: 45 };
  await acceptMessages(sql, acceptingOf(request, plan, [written], []));
  const parts = await submitted(message!.id, 'texts');
  expect(parts.map((part) => [part.text, part.encoding, part.part, part.parts])).toEqual([
    ['Zażółć', 'ucs2', 1, 3],
    [' gęślą', 'ucs2', 2, 3],
    [' jaźń', 'ucs2', 3, 3],
  ]);
  const [entry] = await sql`select amount_grosze from ledger_entries where subject_id = ${message!.id}`;
  expect(entry).toEqual({ amountGrosze: -45 });
  expect(await readMessage(sql, ACCOUNT, message!.id)).toMatchObject({
    status: 'sent',
    parts: 3,
    costGrosze: 45,
  });
});
