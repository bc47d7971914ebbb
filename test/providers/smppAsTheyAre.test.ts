import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runAdmin } from '../../bin/admin/program.ts';
import { operatingUser, serviceTools } from '../../bin/admin/tools.ts';
import { openDatabase } from '../../db/connection.ts';
import type { Behaviour, ReportPlan } from '../smsc/behaviour.ts';
import { incoming, type IncomingOptions } from '../smsc/incoming.ts';
import { type Smsc, startSmsc } from '../smsc/smsc.ts';
import { eventually } from '../support/eventually.ts';
import { environmentOf } from '../support/service.ts';
import { type Product, type ProductAccount, senderOf, startProduct } from '../support/product.ts';

const SERVICE_NUMBER = '48500900900';

let product: Product;
let account: ProductAccount;
let smsc: Smsc;
let onePart: Smsc;
let other: ProductAccount;
const send = senderOf(() => account, 800_000);
const sendOther = senderOf(() => other, 810_000);

beforeAll(async () => {
  [product, smsc, onePart] = await Promise.all([startProduct(1), startSmsc(), startSmsc()]);
  [account, other] = [await product.account(), await product.account()];
  await product.sql`update accounts set inbound_number = ${`+${SERVICE_NUMBER}`} where id = ${account.id}`;
  await product.route('marking', smsc, account, { settings: { ids: 'hex-answer' } });
  await product.route('one-part', onePart, other, { settings: { longReports: 'one-part' } });
});
afterAll(async () => {
  await product.stop();
  await Promise.all([smsc.stop(), onePart.stop()]);
});

const statusOf = (of: ProductAccount, id: string, status: string) =>
  eventually(
    async () => (await of.api.get(`/v1/messages/${id}`)).body,
    (message) => message.status === status,
  );
const repliesOf = async (phone: string, count: number): Promise<string[]> => {
  const replies = await eventually(
    () => product.sql<{ text: string }[]>`
      select received_text as text from inbound_messages where sender = ${phone} order by received_at`,
    ({ length }) => length >= count,
  );
  return replies.map(({ text }) => text);
};
const isListed = async (phone: string) => {
  const { data } = (await account.api.get('/v1/blacklist?limit=200')).body;
  return (data as { msisdn: string }[]).some(({ msisdn }) => msisdn === phone);
};
const ucs2 = (text: string) => Buffer.from(text, 'utf16le').swap16();
const le = (text: string) => Buffer.from(text, 'utf16le');

it.each<[string, number, Buffer, IncomingOptions?]>([
  ['UCS-2 under the default alphabet', 0, ucs2('STOP')],
  ['UCS-2 under the default alphabet, in Polish', 0, ucs2('STOP, proszę')],
  ['a mark, little-endian', 8, le('\uFEFFSTOP')],
  ['little-endian without a mark', 8, le('STOP')],
  ['little-endian under the default alphabet', 0, le('\uFEFFWypisz')],
  ['a big-endian mark under ISO 8859-1', 3, ucs2('\uFEFFSTOP')],
  ['ASCII under UCS-2', 8, Buffer.from('STOP')],
  ['NULs at the end', 0, Buffer.from('STOP\0\0')],
  ['UCS-2 under 8-bit data', 4, ucs2('Stop')],
  ['UCS-2 in parts too short for evidence', 0, ucs2('STOP'), { cut: 2 }],
  ['8-bit data in parts cut in the middle of characters', 4, ucs2('STOP'), { cut: 3, header: 'sar' }],
])('a wrong data_coding opts out all the same: %s', async (_, dataCoding, octets, options) => {
  const sent = await send({ text: 'Promocja' });
  await statusOf(account, sent.id, 'delivered');
  const parts = incoming(sent.to.slice(1), SERVICE_NUMBER, '', { ...options, octets, dataCoding });
  await Promise.all([...parts].reverse().map((part) => smsc.deliver(part)));
  await eventually(
    () => isListed(sent.to),
    (listed) => listed,
  );
});

it.each<[string, boolean, (sender: string) => string]>([
  ['a courtesy', true, () => 'Stop. Thank you'],
  ['the signature of a telephone', true, () => 'STOP\n\nWysłane z iPhone’a'],
  ['one in the same line', true, () => 'Stop Wysłane z iPhone’a'],
  [
    'a signature and a quote',
    true,
    () => `STOP\nSent from my Samsung Galaxy\n-------- Original message --------\nFrom: ${'x'.repeat(150)}`,
  ],
  ['a quote above', true, (sender) => `W dniu 28.11.2026 ${sender} napisał(a):\n> Promocja\n\nWYPISZ`],
  ['a signature behind NIE', true, () => 'Nie\n\n-- \nJan Kowalski\ntel. 500 100 200'],
  ['the sender’s name', true, (sender) => `STOP ${sender.toLowerCase()}`],
  ['the number that it went to', true, () => `Stop +${SERVICE_NUMBER}`],
  ['another number', false, () => 'STOP 12345'],
  ['an answer', false, () => 'We have got to STOP this!'],
  ['STOP in a quote alone', false, () => '> Rezygnacja: STOP\nTak, przyjdę'],
  ['an answer that begins with NIE', false, () => 'Nie\nmogę jutro'],
])('the first own line of a reply decides: %s, %s', async (_, optsOut, written) => {
  const sent = await send({ text: 'Promocja' });
  await statusOf(account, sent.id, 'delivered');
  const text = written(sent.from!);
  const parts = incoming(sent.to.slice(1), SERVICE_NUMBER, text, { encoding: 'ucs2', cut: 134 });
  for (const part of parts) await smsc.deliver(part);
  expect(await repliesOf(sent.to, 1)).toEqual([text]);
  await eventually(
    () => product.sql`select from inbound_messages where sender = ${sent.to} and state = 'matched'`,
    ({ count }) => count === 1,
  );
  expect(await isListed(sent.to)).toBe(optsOut);
});

it.each<[string, string, (text: string) => Buffer, number]>([
  ['+48500820001', 'UCS-2 under the default alphabet', ucs2, 0],
  ['+48500820002', 'a little-endian mark in the first part', (text) => le(`\uFEFF${text}`), 0],
  ['+48500820003', 'UTF-8 under the default alphabet', (text) => Buffer.from(text), 0],
])(
  'a long reply that was cut within characters is what was written: %s %s',
  async (phone, _, encode, claim) => {
    const text = `${'ż'.repeat(66)}😀${'ó'.repeat(90)} – € STOP`;
    const octets = encode(text);
    const parts = incoming(phone.slice(1), SERVICE_NUMBER, '', { octets, cut: 133, dataCoding: claim });
    await Promise.all([...parts].reverse().map((part) => smsc.deliver(part)));
    expect(await repliesOf(phone, 1)).toEqual([text]);
  },
);

let ids = 0x1a2b;
/** Takes a submit with an id in hexadecimal, and reports as planned with it in decimal. */
const taken = (...plans: ((decimal: string, hexadecimal: string) => ReportPlan)[]): Behaviour => {
  const [decimal, id] = [String((ids += 1)), ids.toString(16).toUpperCase()];
  return { id, reports: plans.map((plan) => plan(decimal, id)) };
};

it.each<[string, (decimal: string, hexadecimal: string) => ReportPlan]>([
  ['the SMSC’s own in the TLV', (id) => ({ stat: 'DELIVRD', in: 'both', tlvId: randomUUID(), id })],
  ['nothing known in the text', (id) => ({ stat: 'DELIVRD', in: 'both', tlvId: id, id: 'abcdef' })],
  ['hexadecimal in the TLV', (id, tlvId) => ({ stat: 'DELIVRD', in: 'both', tlvId, id })],
  ['hexadecimal in the text', (_, id) => ({ stat: 'DELIVRD', in: 'both', tlvId: 'ffffffffffff', id })],
])('a receipt of two ids is for the part that one of them names: %s', async (_, plan) => {
  smsc.behave = () => taken(plan);
  await statusOf(account, (await send({ text: 'Dwa numery' })).id, 'delivered');
});

it('a receipt of two ids that comes before the answer waits for it', async () => {
  smsc.behave = () => ({
    ...taken((id) => ({ stat: 'DELIVRD', in: 'both', tlvId: randomUUID(), id, afterMs: 1 })),
    answer: 300,
  });
  await statusOf(account, (await send({ text: 'Wcześniej' })).id, 'delivered');
});

it.each([1, 3])(
  'a report on one part stands for the message, where the route says so: part %i',
  async (which) => {
    onePart.behave = ({ shortMessage }) => ({
      reports: shortMessage[5] === which ? [{ stat: 'DELIVRD' }] : [],
    });
    const sent = await sendOther({ text: 'a'.repeat(400) });
    expect(sent.parts).toBe(3);
    await statusOf(other, sent.id, 'delivered');
  },
);

it('a report on the first part before the others are submitted does not keep them', async () => {
  const own = onePart.submits.length;
  onePart.behave = ({ shortMessage }) =>
    shortMessage[5] === 1 ? { reports: [{ stat: 'DELIVRD', afterMs: 0 }] } : { reports: [], answer: 400 };
  const sent = await sendOther({ text: 'b'.repeat(400) });
  await statusOf(other, sent.id, 'delivered');
  expect(onePart.submits).toHaveLength(own + 3);
});

it('`routes list` tells of SMSCs that report one part of long messages only', async () => {
  smsc.behave = ({ shortMessage }) =>
    shortMessage[5] === 2 ? taken((id) => ({ stat: 'DELIVRD', id })) : taken();
  const remarks = async () => {
    let said = '';
    await runAdmin(['routes', 'list'], {
      actor: operatingUser,
      openDatabase: () => Promise.resolve(openDatabase(product.service.databaseUrl, 1)),
      openTools: () => serviceTools(environmentOf(product.service)),
      ...{ out: (text) => (said += text), err: (text) => (said += text) },
    });
    return said;
  };
  const sent = await Promise.all([1, 2, 3].map(() => send({ text: 'c'.repeat(200) })));
  await eventually(
    () => product.sql`
      select from message_parts where reported_at is not null and message_id = any(${sent.map(({ id }) => id)})`,
    ({ count }) => count === 3,
  );
  expect(await remarks()).not.toContain('one part only');
  await product.sql`update delivery_reports set received_at = received_at - interval '11 minutes'`;
  expect(await remarks()).toContain('marking: the SMSC reported on one part only');
  expect(await remarks()).not.toContain('one-part: ');
});

it('a receipt without its mark is one where its id is of a part to that phone, even before the answer', async () => {
  for (const answer of [0, 500]) {
    smsc.behave = () => ({
      ...taken((id) => ({ stat: 'DELIVRD', id, unmarked: true, afterMs: 50 })),
      answer,
    });
    const sent = await send({ text: 'Bez znaku' });
    await statusOf(account, sent.id, 'delivered');
    expect(await repliesOf(sent.to, 0)).toEqual([]);
  }
});

it('a text that reads like a receipt is a reply where its id is another phone’s, or nobody’s', async () => {
  smsc.behave = () => taken();
  const [mine, another] = [await send({ text: 'Mój' }), await send({ text: 'Cudzy' })];
  await Promise.all([mine, another].map(({ id }) => statusOf(account, id, 'sent')));
  const foreign = smsc.submits.find(({ destination }) => `+${destination}` === another.to)!;
  const texts = [
    `id:${parseInt(foreign.id!, 16)} stat:UNDELIV`,
    'id:1234567 stat:DELIVRD text:STOP',
    'Id: 7, stat: 5',
  ];
  for (const text of texts)
    for (const part of incoming(mine.to.slice(1), SERVICE_NUMBER, text)) await smsc.deliver(part);
  expect(await repliesOf(mine.to, 3)).toEqual(texts);
  expect((await account.api.get(`/v1/messages/${another.id}`)).body.status).toBe('sent');
});
