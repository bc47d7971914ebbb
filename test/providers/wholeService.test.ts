import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addRule } from '../../db/routes/routes.ts';
import { callBack } from '../smsapi/callbacks.ts';
import { errorAnswer, json, type Provider, startProvider, type TakenSms } from '../smsapi/provider.ts';
import { incoming } from '../smsc/incoming.ts';
import { type Smsc, startSmsc } from '../smsc/smsc.ts';
import { ALL_OF_GSM7, partOf, shown, textOf } from '../smsc/text.ts';
import { eventually } from '../support/eventually.ts';
import {
  outcomes,
  type Product,
  type ProductAccount,
  senderOf,
  sendSurely,
  startProduct,
} from '../support/product.ts';
import { startReceiver, type WebhookReceiver } from '../support/webhookReceiver.ts';
import { addSmsapiRoute, type Callbacks, report } from './smsapiRoute.ts';

const SECRET = `whsec_${randomBytes(16).toString('hex')}`;
const SERVICE_NUMBER = '48500900900';
const THROTTLED = 0x58;

let product: Product;
let receiver: WebhookReceiver;

beforeAll(async () => {
  [product, receiver] = await Promise.all([startProduct(1), startReceiver()]);
  receiver.useSecret(SECRET);
});
afterAll(async () => {
  await receiver.close();
  await product.stop();
});

/** An account whose webhook is ours. */
const newAccount = () => product.account({ url: receiver.url, secret: SECRET });
const statusOf = (account: ProductAccount, id: string, status: string) =>
  eventually(
    async () => (await account.api.get(`/v1/messages/${id}`)).body,
    (message) => message.status === status,
  );

/** What was notified of a message, once that are so many events. */
async function notified(id: string, count: number): Promise<string[]> {
  const ofMessage = ({ event }: (typeof receiver.calls)[number]) => event.data.message.id === id;
  const calls = (await receiver.until((all) => all.filter(ofMessage).length >= count)).filter(ofMessage);
  expect(calls.every(({ verified }) => verified)).toBe(true);
  return calls.map(({ event }) => event.type);
}

describe('the whole service, by a route to an SMSC', () => {
  let smsc: Smsc;
  let account: ProductAccount;
  let other: ProductAccount;
  let ids = 0x1a2b;
  let phones = 0;
  const send = senderOf(() => account, 400_000);

  beforeAll(async () => {
    smsc = await startSmsc();
    [account, other] = [await newAccount(), await newAccount()];
    const settings = { sessions: 2, ids: 'hex-answer', responseSeconds: 60 };
    await product.route('operator', smsc, account, { settings, sessions: 2 });
    const everything = { prefix: '', type: null, priority: null, weight: 100 };
    await addRule(product.sql, { route: 'operator', accountId: other.id, ...everything });
  });
  afterAll(() => smsc.stop());
  // As some SMSCs do: the answer's id in hexadecimal, that of the report in decimal.
  const taken = () => {
    ids += 1;
    return { id: ids.toString(16).toUpperCase(), reports: [{ stat: 'DELIVRD', id: String(ids) }] };
  };
  const submitsTo = async (to: string, count: number) => {
    const submits = await eventually(
      () => Promise.resolve(smsc.submits.filter(({ destination }) => `+${destination}` === to)),
      (found) => found.length >= count,
    );
    expect(submits).toHaveLength(count);
    return submits;
  };
  const newPhone = (): string => `48500${700_000 + (phones += 1)}`;
  const repliesOf = (phone: string, count: number) =>
    eventually(
      () => product.sql<{ text: string; receiver: string }[]>`
        select received_text as text, receiver from inbound_messages
         where sender = ${`+${phone}`} order by received_at`,
      (replies) => replies.length >= count,
    );

  it.each([
    // A CR is a line end, and sent as LF.
    {
      name: 'every character of GSM-7',
      text: ALL_OF_GSM7.basic.replace('\r', '') + ALL_OF_GSM7.extension,
      parts: 1,
    },
    { name: 'parts of UCS-2', text: `${'ż'.repeat(66)}😀${'ó'.repeat(40)}👍`, parts: 2 },
  ])('$name: arrives as it was sent, from its sender, and its delivery is told', async ({ text, parts }) => {
    smsc.behave = taken;
    const sent = await send({ text });
    expect(sent).toMatchObject({ text, parts });
    const submits = await submitsTo(sent.to, parts);
    expect(shown(submits)).toEqual([{ source: sent.from, destination: sent.to.slice(1), text, parts }]);
    expect(await notified(sent.id, 2)).toEqual(['message.sent', 'message.delivered']);
    expect((await account.api.get(`/v1/messages/${sent.id}`)).body).toMatchObject({ status: 'delivered' });
  });

  it('the end of delivery attempts goes along, in UTC, and that it is a priority message', async () => {
    const expiresAt = new Date(Math.ceil(Date.now() / 1000) * 1000 + 7_200_000).toISOString();
    const sent = await send({ text: 'Do kiedy', expires_at: expiresAt, priority: true });
    const [submit] = await submitsTo(sent.to, 1);
    const digits = expiresAt.replace(/[-:TZ.]/g, '').slice(2, 14);
    expect(submit).toMatchObject({ validityPeriod: `${digits}000+`, priorityFlag: 1 });
  });

  it('long messages to one phone, at once and of two accounts, are told apart; all tries of one are alike', async () => {
    const MESSAGES = 4;
    const to = '+48500700001';
    const tried = new Set<string>();
    smsc.behave = (submit) => {
      const letter = textOf(submit).slice(0, 1);
      const first = !tried.has(letter);
      tried.add(letter);
      return first ? { status: THROTTLED } : taken();
    };
    // Each message says one letter only, so a part says which message it is of.
    const letters = Array.from({ length: MESSAGES }, (_, index) => String.fromCharCode(97 + index));
    await Promise.all(
      letters.map((letter, index) =>
        sendSurely([account, other][index % 2]!.api, { to, text: letter.repeat(400) }),
      ),
    );
    const submits = await submitsTo(to, 4 * MESSAGES);
    smsc.behave = taken;
    const references = new Map<string, Set<number>>();
    for (const submit of submits) {
      const letter = textOf(submit).slice(0, 1);
      const { reference } = partOf(submit)!;
      references.set(letter, (references.get(letter) ?? new Set()).add(reference));
    }
    expect([...references.values()].map(({ size }) => size)).toEqual(letters.map(() => 1));
    expect(new Set([...references.values()].flatMap((own) => [...own])).size).toBe(MESSAGES);
  });

  it('a reply in parts, in any order and over any session, is what was written', async () => {
    const phone = newPhone();
    const text = `${'ż'.repeat(66)}😀${'ó'.repeat(90)}`;
    const parts = incoming(phone, SERVICE_NUMBER, text, { cut: 134, encoding: 'ucs2', header: 'udh16' });
    await Promise.all([...parts].reverse().map((part) => smsc.deliver(part)));
    expect(await repliesOf(phone, 1)).toEqual([{ text, receiver: `+${SERVICE_NUMBER}` }]);
  });

  it('a part handed over twice adds nothing; the same words twice are two replies', async () => {
    const phone = newPhone();
    const text = 'Dwa razy to samo. '.repeat(20);
    const [first, ...others] = incoming(phone, SERVICE_NUMBER, text, { cut: 153, reference: 9 });
    for (const part of [first!, first!, ...others, ...others]) await smsc.deliver(part);
    await repliesOf(phone, 1);
    const [end] = incoming(phone, SERVICE_NUMBER, 'koniec');
    for (const part of [end!, end!]) await smsc.deliver(part);
    expect((await repliesOf(phone, 3)).map((reply) => reply.text)).toEqual([text, 'koniec', 'koniec']);
  });
});

describe('the whole service, by a route to SMSAPI.pl', () => {
  let provider: Provider;
  let account: ProductAccount;
  let callbacks: Callbacks;
  const send = senderOf(() => account, 500_000);

  beforeAll(async () => {
    provider = await startProvider();
    account = await newAccount();
  });
  afterAll(() => provider.close());
  const untilTaken = async (to: string): Promise<TakenSms> => {
    const found = await eventually(
      () => Promise.resolve(provider.taken.filter((sms) => `+${sms.to}` === to)),
      ({ length }) => length > 0,
    );
    expect(found).toHaveLength(1);
    return found[0]!;
  };
  const untilUnanswered = (id: string) =>
    eventually(
      async () => (await outcomes(product.sql, account.id)).find((message) => message.id === id)!,
      ({ submission }) => submission === 'unanswered',
    );

  it('takes the route from the operator’s command line, token by standard input', async () => {
    const added = await addSmsapiRoute(product, provider, { workers: 1, responseSeconds: 60 });
    expect(JSON.stringify(added.said)).not.toContain(provider.token);
    expect(await product.admin(['routes', 'test', 'smsapi'])).toMatchObject({ works: true });
    callbacks = added.callbacks;
    expect(callbacks.reports).toMatch(/^http:\/\/.*\/callbacks\/smsapi\/[\w-]{32,}\/reports$/);
  });

  it('an SMS arrives as it was sent, and its delivery is told', async () => {
    const text = 'Żółta łódź płynie po jeziorze 🙂. '.repeat(5).trim();
    const sent = await send({ text });
    expect(sent.parts).toBe(3);
    const sms = await untilTaken(sent.to);
    expect(sms).toMatchObject({ text, notifyUrl: callbacks.reports });
    await statusOf(account, sent.id, 'sent');
    expect(await report(sms)).toEqual({ status: 200, text: 'OK' });
    expect(await notified(sent.id, 2)).toEqual(['message.sent', 'message.delivered']);
  });

  it('a call is taken, its strange callbacks change nothing, and its delivery is notified', async () => {
    const to = '+48500400101';
    const { status, body } = await account.api.post('/v1/voice', { to, text: 'Dzień dobry', voice: 'jan' });
    expect(status).toBe(201);
    const call = await untilTaken(to);
    expect(call.path).toBe('/vms.do');
    await statusOf(account, body.id, 'sent');
    const { id, idx } = call;
    for (const fields of [
      { MsgId: id, status: 'ANSWERED', idx: idx! },
      { MsgId: id, status_name: '' },
      { MsgId: `${id},${id}`, status: '999,abc' },
    ])
      expect((await callBack(call.notifyUrl!, fields)).status).toBe(200);
    for (const fields of [{ MsgId: id }, { status: '404' }, {}])
      expect((await callBack(call.notifyUrl!, fields)).text).not.toBe('');
    expect((await account.api.get(`/v1/messages/${body.id}`)).body.status).toBe('sent');
    expect(await report(call)).toEqual({ status: 200, text: 'OK' });
    expect(await notified(body.id, 2)).toEqual(['message.sent', 'message.delivered']);
  });

  it('a report before the answer loses nothing', async () => {
    provider.next((response, take) => {
      const answer = take();
      const sms = provider.taken.at(-1)!;
      void report(sms).then(() => json(response, 200, answer));
    });
    const sent = await send({ text: 'Szybciej niż odpowiedź' });
    await statusOf(account, sent.id, 'delivered');
  });

  it('one whose answer was lost is unanswered, is not sent twice by being submitted again, and its report completes it', async () => {
    provider.next((response, take) => {
      take();
      response.destroy();
    });
    const sent = await send({ text: 'Jeszcze raz' });
    await untilUnanswered(sent.id);
    await product.admin(['messages', 'resubmit', '--id', sent.id]);
    await eventually(
      () => product.sql<{ code: string | null }[]>`
        select answer_code as code from message_parts where message_id = ${sent.id} and state = 'unanswered'`,
      (rows) => rows.some(({ code }) => code === '53'),
    );
    await report(await untilTaken(sent.to));
    await statusOf(account, sent.id, 'delivered');
  });

  it('a refusal ends it, and refunds it', async () => {
    provider.next(errorAnswer(13));
    const sent = await send({ text: 'Zły numer' });
    await statusOf(account, sent.id, 'failed');
    const message = (await outcomes(product.sql, account.id)).find(({ id }) => id === sent.id);
    expect(message).toMatchObject({ reason: 'invalid_destination', charges: 1, refunds: 1 });
  });

  it.each([
    ['a long text', 'a'.repeat(1_531)],
    ['one with a Polish letter', `${'a'.repeat(670)}ą`],
    ['an emoji that does not fit in two halves', `${'ą'.repeat(669)}🙂`],
    ['signs of two septets, of which no part takes a half', '€'.repeat(761)],
    ['an invisible character that does not count', `${'a'.repeat(1_530)}\u200B`, 10],
    ['as much as there is room for', 'ą'.repeat(670), 10],
  ])('counts the parts that the provider takes as it splits: %s', async (_, text, parts = 11) => {
    const phone = '+48500400103';
    const before = (await account.api.get('/v1/account')).body;
    const other = { to: ['+48500400104', phone], text };
    const { status, body } = await account.api.post('/v1/messages/estimate', other);
    if (parts === 10) {
      expect(body.messages).toMatchObject([{ parts }, { parts }]);
      return;
    }
    expect([status, body.error.message]).toEqual([400, expect.stringContaining('części 11, najwyżej 10')]);
    expect((await account.api.send(other)).status).toBe(400);
    const later = new Date(Date.now() + 86_400_000).toISOString();
    expect((await account.api.send({ to: phone, text, send_at: later })).status).toBe(400);
    expect((await account.api.get('/v1/account')).body).toEqual(before);
  });

  it('takes ten parts; what has more goes by another route, or is refused and costs nothing', async () => {
    const [long, to] = ['a'.repeat(153 * 10 + 1), '+48500400102'];
    const answer = await account.api.send({ to, text: long });
    expect(answer).toMatchObject({ status: 400, body: { error: { param: 'text' } } });
    expect(JSON.stringify(answer.body)).toContain('części 11, najwyżej 10');
    expect((await outcomes(product.sql, account.id)).filter(({ recipient }) => recipient === to)).toEqual([]);
    expect((await send({ text: long.slice(1) })).parts).toBe(10);
    const smsc = await startSmsc();
    const everything = { accountId: account.id, prefix: '', type: null, priority: null, weight: 100 };
    await product.route('for-long', smsc, await newAccount());
    await addRule(product.sql, { route: 'for-long', ...everything });
    await addRule(product.sql, { route: 'smsapi', ...everything, prefix: '48500' });
    const sent = await eventually(
      () => account.api.send({ to, text: long }),
      ({ status }) => status === 201,
    );
    await statusOf(account, String(sent.body.id), 'delivered');
    expect(smsc.submits).toHaveLength(11);
    await smsc.stop();
  });
});
