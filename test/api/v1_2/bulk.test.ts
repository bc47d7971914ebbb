import { describe, expect, it } from 'vitest';
import { decided } from '../../support/decided.ts';
import { newEarlierAccount } from '../../support/earlierClient.ts';
import { eventually } from '../../support/eventually.ts';
import { books, database, storedMessages, untilStatus } from '../../support/factories.ts';

const PATH = '/v1/sms/bulk';
const numbers = (count: number, from = 500_000_000) =>
  Array.from({ length: count }, (_, index) => `+48${from + index}`);

describe('one text to many', () => {
  it('is charged together and delivered to each; a repeated number gets it once', async () => {
    const account = await newEarlierAccount({ balance: 100, price: 10 });
    const recipients = ['+48500100200', '500100200', '48500100201', '+48500100202'];
    const { status, body } = await account.v1.post(PATH, { recipients, message: 'Hej {{imie}}' });
    expect(status).toBe(200);
    expect(body.data.count).toBe(3);
    expect(body.data.messages.map(({ to, status, cost }) => [to, status, cost])).toEqual([
      ['+48500100200', 'queued', 10],
      ['+48500100201', 'queued', 10],
      ['+48500100202', 'queued', 10],
    ]);
    expect((await books(account.id)).balance).toBe(70);
    for (const { id } of body.data.messages) await untilStatus(account, id, 'delivered');
    const [stored] = await database()`
      select count(distinct request_id)::int as requests, min(text) as text, min(interface) as interface
        from messages where account_id = ${account.id}`;
    expect(stored).toEqual({ requests: 1, text: 'Hej {{imie}}', interface: 'v1' });
  });

  it('to many, some of whom are blacklisted, is charged to the grosz', async () => {
    const account = await newEarlierAccount({ balance: 1_000, price: 10 });
    const recipients = numbers(100);
    const blocked = recipients.filter((_, index) => index % 33 === 0);
    await account.api.post('/v1/blacklist', { msisdns: blocked });
    const { status, body } = await account.v1.post(PATH, { recipients, message: 'Promocja', date: inADay() });
    expect([status, body.data.count]).toEqual([200, 100]);
    const rejected = body.data.messages.filter((one) => one.status === 'rejected');
    expect(rejected.map(({ to }) => to)).toEqual(blocked);
    expect((await books(account.id)).balance).toBe(1_000 - 10 * (100 - blocked.length));
    const [stored] = await database()`
      select count(*)::int as messages, count(distinct recipient)::int as recipients from messages where account_id = ${account.id}`;
    expect(stored).toEqual({ messages: 100, recipients: 100 });
  });

  it('with malformed numbers is refused, and each is named', async () => {
    const account = await newEarlierAccount();
    const recipients = numbers(1_000);
    recipients[1] = 'abc';
    recipients[17] = '';
    recipients[999] = '+4850010020';
    const answer = await account.v1.post(PATH, { recipients, message: 'x' });
    expect(answer.status).toBe(422);
    expect(answer.body.error).toMatchObject({
      details: { field: 'recipients', positions: [2, 18, 1000] },
      message: expect.stringMatching(/: 3\. Pierwszy stoi na liście na pozycji 2\. Podaj je/) as string,
    });
    expect(await storedMessages(account.id)).toEqual([]);
  });
});

describe('texts of their own', () => {
  const item = (index: number, more = {}) => ({
    to: `+48500200${100 + index}`,
    message: `Kod ${index}`,
    ...more,
  });

  it('are charged together and delivered, the same number as often as it stands there', async () => {
    const account = await newEarlierAccount({ balance: 100, price: 10 });
    const messages = [
      item(1),
      item(1, { message: 'Drugi' }),
      item(2, { idx: 'a' }),
      item(3, { date: inADay() }),
    ];
    const { status, body } = await account.v1.post(PATH, { messages });
    expect(status).toBe(200);
    expect(body.data.messages.map(({ to }) => to)).toEqual(messages.map(({ to }) => to));
    expect((await books(account.id)).balance).toBe(60);
    const stored = await database()<{ text: string; idx: string | null; scheduled: boolean }[]>`
      select text, idx, status = 'scheduled' as scheduled from messages where account_id = ${account.id} order by id`;
    expect(stored.map((one) => [one.text, one.idx, one.scheduled])).toEqual([
      ['Kod 1', null, false],
      ['Drugi', null, false],
      ['Kod 2', 'a', false],
      ['Kod 3', null, true],
    ]);
    await untilStatus(account, body.data.messages[1]!.id, 'delivered');
  });

  it('each is sent once for its idx, here and by POST /v1/sms', async () => {
    const account = await newEarlierAccount({ balance: 1000, price: 10 });
    const first = await account.v1.post(PATH, { messages: [item(1, { idx: '1' }), item(2, { idx: '2' })] });
    const second = await account.v1.post(PATH, {
      messages: [item(2, { idx: '2' }), item(3, { idx: '3' }), item(3, { idx: '3' })],
    });
    expect(second.status).toBe(200);
    // One message for an idx, so that the answer's costs are what is charged.
    expect(second.body.data.count).toBe(2);
    const [again, fresh] = second.body.data.messages;
    expect(again).toEqual(first.body.data.messages[1]);
    expect((await books(account.id)).balance).toBe(970);
    const single = await account.v1.post('/v1/sms', item(3, { idx: '3' }));
    expect(single.body.data.messages).toEqual([fresh]);
    expect(await storedMessages(account.id)).toHaveLength(3);

    const other = await account.v1.post(PATH, { messages: [item(4, { idx: '4' }), item(5, { idx: '2' })] });
    expect(other).toMatchObject({ status: 422, body: { error: { details: { field: 'messages.1.idx' } } } });
    const twice = await account.v1.post(PATH, { messages: [item(4, { idx: '4' }), item(5, { idx: '4' })] });
    expect(twice).toMatchObject({ status: 422, body: { error: { details: { field: 'messages.1.idx' } } } });
    expect(await storedMessages(account.id)).toHaveLength(3);
  });

  it('of many at once, each idx is sent once', async () => {
    const account = await newEarlierAccount({ balance: 1000, price: 10 });
    const ask = (shift: number) =>
      account.v1.post(PATH, {
        messages: [0, 1, 2].map((n) => item((n + shift) % 3, { idx: String((n + shift) % 3) })),
      });
    const answers = await Promise.all([0, 1, 2, 0, 1, 2].map(ask));
    expect([...new Set(answers.map(({ status }) => status))].sort()).toEqual(
      answers.some(({ status }) => status === 429) ? [200, 429] : [200],
    );
    await eventually(
      () => ask(1),
      ({ status }) => status === 200,
    );
    expect(await storedMessages(account.id)).toHaveLength(3);
    expect((await books(account.id)).balance).toBe(970);
  });

  it('beyond a quota are refused whole, and the answer names the list', async () => {
    const account = await newEarlierAccount({ balance: 1000, price: 10 });
    const messages = [1, 2].map((index) => item(index, { date: inADay() }));
    await database()`update accounts set quotas = '{"scheduled_messages": 1}' where id = ${account.id}`;
    const { status, body } = await account.v1.post(PATH, { messages });
    expect([status, body.error.details]).toEqual([422, { field: 'messages' }]);
    expect(await storedMessages(account.id)).toEqual([]);
  });

  it('with one too few grosze are refused whole, and their idx are free', async () => {
    const account = await newEarlierAccount({ balance: 19, price: 10 });
    const messages = [item(1, { idx: '1' }), item(2, { idx: '2' })];
    expect((await account.v1.post(PATH, { messages })).status).toBe(402);
    expect(await storedMessages(account.id)).toEqual([]);
    expect((await account.v1.post('/v1/sms', { ...messages[1], message: 'Inny' })).status).toBe(200);
  });

  it('takes a hundred of 20 parts with the longest idx, every character an escape', async () => {
    const { v1 } = await newEarlierAccount({ balance: 100_000 });
    const messages = Array.from({ length: 100 }, (_, index) =>
      item(index, { message: 'ż'.repeat(20 * 67), idx: `${'😀'.repeat(252)}${100 + index}`, date: inADay() }),
    );
    const escaped = JSON.stringify({ messages }).replace(/"(?:to|message|idx)":"[^"]*"/g, (field) =>
      field.replace(/:"(.*)"/, (_, text: string) => `:"${escapes(text)}"`),
    );
    const { body } = await decided(() => v1.post(PATH, escaped));
    expect(body.data.messages.map(({ parts }) => parts)).toEqual(messages.map(() => 20));
  });
});

const ITEM = { to: '+48500100200', message: 'x' };
it.each([
  [{ message: 'x' }, 'recipients'],
  [{ recipients: ['+48500100200'] }, 'message'],
  [{ recipients: [500100200], message: 'x' }, 'recipients.0'],
  [{ recipients: ['group:Klienci'], message: 'x' }, 'recipients'],
  [{ recipients: ['+48500100200'], message: 'x', idx: 'a' }, 'idx'],
  [{ recipients: ['+48500100200'], message: 'ż', encoding: 'gsm' }, 'message'],
  [{ messages: [ITEM, { ...ITEM, to: 'x' }] }, 'messages.1.to'],
  [{ messages: [ITEM, { ...ITEM, message: ' ' }] }, 'messages.1.message'],
  [{ messages: [{ ...ITEM, from: 'OBCY' }] }, 'messages.0.from'],
  [{ messages: [{ ...ITEM, encoding: 'gsm' }] }, 'messages.0.encoding'],
  [{ messages: Array.from({ length: 101 }, () => ITEM) }, 'messages'],
  [{ messages: [ITEM], recipients: ['+48500100200'] }, 'recipients'],
  [null, undefined],
])('%j is refused with 422 that says where', async (body, field) => {
  const account = await newEarlierAccount();
  const answer = await account.v1.post(PATH, body);
  expect(answer.status).toBe(422);
  expect(answer.body.error.details?.field).toBe(field);
  expect(await storedMessages(account.id)).toEqual([]);
});

it('more than 10,000 recipients are refused; of 10,000 only the money is asked', async () => {
  const { v1 } = await newEarlierAccount({ balance: 0 });
  const statusOf = async (count: number) =>
    (await v1.post(PATH, { recipients: numbers(count), message: 'x' })).status;
  expect([await statusOf(10_001), await statusOf(10_000)]).toEqual([422, 402]);
});

function escapes(text: string): string {
  return Array.from({ length: text.length }, (_, at) => {
    return `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }).join('');
}

function inADay(): string {
  return new Date(Date.now() + 24 * 3_600_000).toISOString();
}
