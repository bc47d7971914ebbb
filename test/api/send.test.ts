import { Client, Connection } from '@temporalio/client';
import { describe, expect, inject, it } from 'vitest';
import { newId } from '../../db/ids.ts';
import { eventually } from '../support/eventually.ts';
import { newEarlierAccount } from '../support/earlierClient.ts';
import { books, database, newAccount, storedMessages } from '../support/factories.ts';
import { refusal } from './refusal.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const ahead = (ms: number) => new Date(Date.now() + ms).toISOString();
const numbers = (count: number) => Array.from({ length: count }, (_, i) => `+48500${String(100_000 + i)}`);

describe('one number', () => {
  it('is answered with a Message, every field in its place, and charged', async () => {
    const { id, api } = await newAccount({ balance: 100, price: 10 });
    const answer = await api.send({ to: '500100200', text: 'Dzień dobry', reference: 'zam-1' });
    expect(answer.status).toBe(201);
    expect(Object.keys(answer.body)).toEqual([
      ...['id', 'type', 'status', 'to', 'from', 'text', 'subject', 'parts', 'cost_grosze', 'priority'],
      ...['reference', 'send_at', 'expires_at', 'delivered_at', 'error', 'created_at', 'updated_at'],
    ]);
    expect(answer.body).toMatchObject({
      ...{
        type: 'sms',
        status: 'queued',
        to: '+48500100200',
        from: 'INFO',
        text: 'Dzień dobry',
        subject: null,
      },
      ...{ parts: 1, cost_grosze: 10, priority: false, reference: 'zam-1', send_at: null, expires_at: null },
      ...{ delivered_at: null, error: null },
    });
    expect(await books(id)).toMatchObject({ balance: 90, ledger: 90 });
  });

  it('is what a later read shows', async () => {
    const { api } = await newAccount();
    const sent = (await api.send({ to: '+48500100200', text: 'x', send_at: ahead(DAY) })).body;
    const read = (await api.get(`/v1/messages/${sent.id}`)).body;
    expect(read).toEqual({ ...sent, links: [] });
  });

  it.each([
    ['+48500100200', '+48500100200'],
    ['48500100200', '+48500100200'],
    ['500100200', '+48500100200'],
    ['4520123456', '+4520123456'],
  ])('%s is %s', async (to, msisdn) => {
    const { api } = await newAccount();
    expect((await api.send({ to, text: 'x' })).body.to).toBe(msisdn);
  });

  it.each([
    '500 100 200',
    '12345',
    // More likely 535 123 456 with a digit too many than a number of Cuba.
    '5351234567',
    '٥٠٠١٠٠٢٠٠',
  ])('malformed: %j gives 400 with param to', async (to) => {
    const { id, api } = await newAccount();
    const answer = await api.send({ to, text: 'x' });
    expect(answer).toMatchObject(refusal(400, 'to'));
    expect(await storedMessages(id)).toEqual([]);
  });
});

it.each([
  ['+48500100200\u200B', 'U+200B'],
  ['\u202A+48500100200\u202C', 'U+202A'],
  ['500\u00A0100\u00A0200', 'U+00A0'],
  ['+48500100200\uFEFF', 'U+FEFF'],
])(
  'a refusal of %j shows the accepted form, and the character that cannot be seen',
  async (number, unseen) => {
    const { api, v1 } = await newEarlierAccount();
    for (const { error } of [
      (await api.send({ to: number, text: 'x' })).body,
      (await api.send({ to: ['500100200', number], text: 'x' })).body,
      (await api.post('/v1/contacts', { msisdn: number })).body,
      (await v1.post('/v1/sms', { to: number, message: 'x' })).body,
      (await v1.post('/v1/sms/bulk', { recipients: [number], message: 'x' })).body,
      (await api.get(`/v1/messages?to=${encodeURIComponent(number)}`)).body,
    ]) {
      expect(error.message).toContain('+48500100200, 48500100200 albo 500100200');
      expect(error.message).toContain(unseen);
    }
    expect((await api.send({ to: `group:a\u2800b`, text: 'x' })).body.error.message).toContain('aU+2800b');
    for (const answer of [
      await api.get(`/v1/messages/msg_1${encodeURIComponent(number)}`),
      await api.get(`/v1/contacts/${encodeURIComponent(number)}`),
      await api.get(`/v1/account${encodeURIComponent(number)}`),
      await v1.get(`/v1/messages/${encodeURIComponent(number)}`),
      await api.send({ to: '500100200', template_id: `tpl_${number}` }),
      await api.send({ to: '500100200', text: 'x', from: `SKLEP!${number.slice(-1)}\u00A0` }),
    ])
      expect(answer.body.error.message).toMatch(/U\+[0-9A-F]{4}/);
  },
);

it('one slash at the end of an address is no other address', async () => {
  const { api, v1 } = await newEarlierAccount();
  expect((await api.post('/v1/messages/', { to: '500100200', text: 'x' })).status).toBe(201);
  expect((await api.post('/v1/messages/estimate/', { to: '500100200', text: 'x' })).status).toBe(200);
  expect((await api.get('/v1/messages/?limit=1')).body.data).toHaveLength(1);
  expect((await v1.get('/v1/balance/')).status).toBe(200);
  for (const path of ['/v1/health/', '/v1/openapi.json/', '/docs/', '/docs/1.2/'])
    expect((await fetch(inject('service').apiUrl + path)).status, path).toBe(200);
  const group = (await api.post('/v1/groups/', { name: 'A' })).body.id;
  expect((await api.patch(`/v1/groups/${group}/`, { name: 'B' })).status).toBe(200);
  expect((await api.get('/v1/account//')).status).toBe(404);
});

describe('several numbers', () => {
  it('are answered with a BatchResult, duplicates of any format removed', async () => {
    const { id, api } = await newAccount({ balance: 100, price: 10 });
    const answer = await api.send({ to: ['500100201', '+48500100201', '48500100202'], text: 'x' });
    expect(answer.status).toBe(201);
    expect(Object.keys(answer.body)).toEqual(['count', 'accepted', 'total_cost_grosze', 'messages']);
    expect(answer.body).toMatchObject({ count: 2, accepted: 2, total_cost_grosze: 20 });
    expect(answer.body.messages.map((m) => m.to)).toEqual(['+48500100201', '+48500100202']);
    expect(await books(id)).toMatchObject({ balance: 80, ledger: 80 });
  });

  it('a single element is a BatchResult too', async () => {
    const { api } = await newAccount();
    expect((await api.send({ to: ['500100201'], text: 'x' })).body).toMatchObject({ count: 1, accepted: 1 });
  });

  it('500 are accepted together; 501 are refused, repeated ones do not count', async () => {
    const { id, api } = await newAccount({ balance: 5000, price: 10 });
    const tooMany = await api.send({ to: numbers(501), text: 'x' });
    expect(tooMany).toMatchObject(refusal(400, 'to'));
    const answer = await api.send({ to: [...numbers(500), ...numbers(500)], text: 'x', send_at: ahead(DAY) });
    expect(answer.body).toMatchObject({ count: 500, accepted: 500, total_cost_grosze: 5000 });
    expect(await books(id)).toMatchObject({ balance: 0, ledger: 0 });
  });

  it('all or nothing: too little for all charges none', async () => {
    const { id, api } = await newAccount({ balance: 29, price: 10 });
    const answer = await api.send({ to: ['500100201', '500100202', '500100203'], text: 'x' });
    expect(answer).toMatchObject(refusal(402));
    expect(await books(id)).toMatchObject({ balance: 29, ledger: 29 });
    expect((await api.get('/v1/messages')).body.data).toEqual([]);
  });

  it('one malformed number refuses all, and the message says which', async () => {
    const { id, api } = await newAccount();
    const answer = await api.send({ to: ['500100201', '500100202', 'x'], text: 'x' });
    expect(answer).toMatchObject(refusal(400, 'to'));
    expect(answer.body.error.message).toContain('3');
    expect(await storedMessages(id)).toEqual([]);
  });
});

describe('fields', () => {
  it.each([
    [{ text: 'x' }, 'to'],
    [{ to: '500100200' }, 'text'],
    [{ to: '500100200', text: '' }, 'text'],
    [{ to: '500100200', text: null }, 'text'],
    [{ to: '500100200', text: 'a\0b' }, 'text'],
    [{ to: '500100200', text: 'x'.repeat(20 * 153 + 1) }, 'text'],
    [{ to: null, text: 'x' }, 'to'],
    [{ to: [500100200], text: 'x' }, 'to'],
    [{ to: [], text: 'x' }, 'to'],
    [{ to: '500100200', text: 'x', priority: 1 }, 'priority'],
    [{ to: '500100200', text: 'x', priority: null }, 'priority'],
    [{ to: '500100200', text: 'x', reference: '' }, 'reference'],
    [{ to: '500100200', text: 'x', reference: 'r'.repeat(256) }, 'reference'],
    [{ to: '500100200', text: 'x', send_at: '2026-13-01T10:00:00Z' }, 'send_at'],
    [{ to: '500100200', text: 'x', send_at: '2027-01-01T10:00:00' }, 'send_at'],
    [{ to: '500100200', text: 'x', send_window: '8:00-20:00' }, 'send_window'],
    [{ to: '500100200', text: 'x', send_window: '08:00-08:14' }, 'send_window'],
    [{ to: '500100200', text: 'x', send_window: '08:00-08:00' }, 'send_window'],
    [{ to: '500100200', text: 'x', expires_at: 'jutro' }, 'expires_at'],
    [{ to: '500100200', text: 'x', from: 'ąę!@#' }, 'from'],
    [{ to: '500100200', text: 'x', from: 'DwanascieZna' }, 'from'],
    [{ to: '500100200', text: 'x', sendAt: '2027-01-01T10:00:00Z' }, 'sendAt'],
  ])('%j gives 400 with param %s', async (body, param) => {
    const { id, api } = await newAccount();
    expect(await api.send(body)).toMatchObject(refusal(400, param));
    expect(await storedMessages(id)).toEqual([]);
  });

  it('from has to be an active sender: else 422; the default is the account’s, else the operator’s', async () => {
    const { id, api } = await newAccount({ senders: ['SKLEP', 'STARY'], defaultSender: 'SKLEP' });
    expect((await api.send({ to: '500100200', text: 'x' })).body.from).toBe('SKLEP');
    expect((await api.send({ to: '500100200', text: 'x', from: 'STARY' })).body.from).toBe('STARY');
    await database()`update senders set active = false where account_id = ${id}`;
    expect(await api.send({ to: '500100200', text: 'x', from: 'STARY' })).toMatchObject(refusal(422, 'from'));
    expect((await api.send({ to: '500100200', text: 'x' })).body.from).toBe('INFO');
    const other = await newAccount();
    expect((await other.api.send({ to: '500100200', text: 'x', from: 'SKLEP' })).status).toBe(422);
  });
});

describe('parts and prices', () => {
  it.each([
    ['a'.repeat(160), 1],
    ['a'.repeat(161), 2],
    ['a'.repeat(307), 3],
    ['€'.repeat(81), 2],
    [`${'a'.repeat(152)}€${'a'.repeat(151)}`, 2],
    [`${'a'.repeat(152)}€${'a'.repeat(151)}€`, 3],
    ['ą'.repeat(70), 1],
    ['ą'.repeat(71), 2],
    ['ą'.repeat(135), 3],
    ['😀'.repeat(36), 2],
    ['a'.repeat(20 * 153), 20],
  ])('text %# has the right number of parts', async (text, parts) => {
    const { api } = await newAccount({ price: 10 });
    const body = await api.accepted({ to: '500100200', text, send_at: ahead(DAY) });
    expect(body).toMatchObject({ parts, cost_grosze: 10 * parts, text });
  });

  it.each([
    ['+48500100200', false, 10],
    ['+48500100200', true, 20],
    ['+4915112345678', false, 25],
    ['+4915112345678', true, 50],
    ['+491701234567', false, 31],
    ['+33612345678', false, 20],
  ])('%s with priority %s costs %d', async (to, priority, cost) => {
    const countryRates = { 49: { sms: 25 }, 49170: { sms: 31 }, 48: { sms: 1 }, 33: { mms: 5 } };
    const { api } = await newAccount({ price: 10, countryRates });
    const body = await api.accepted({ to, text: 'x', priority, send_at: ahead(DAY) });
    expect(body).toMatchObject({ cost_grosze: cost, priority });
  });

  it('each recipient of a batch has its own price', async () => {
    const { api } = await newAccount({ price: 10 });
    const body = await api.accepted({ to: ['500100200', '+33612345678'], text: 'x', send_at: ahead(DAY) });
    expect(body.messages.map((m) => m.cost_grosze)).toEqual([10, 20]);
    expect(body).toMatchObject({ total_cost_grosze: 30 });
  });
});

describe('balance', () => {
  // Two messages of 10 grosze: enough for both to the last grosz, and one grosz too little for the second.
  it.each([
    ['prepaid', 20, 0, [201, 201, 402]],
    ['prepaid', 19, 0, [201, 402]],
    ['postpaid', 0, 20, [201, 201, 402]],
    ['postpaid', 0, 19, [201, 402]],
    ['postpaid', 1, 19, [201, 201, 402]],
    ['postpaid', 0, 25, [201, 201, 402]],
    ['postpaid', -1, 20, [201, 402]],
  ] as const)(
    '%s with a balance of %i and a credit limit of %i grosze',
    async (billing, balance, creditLimit, expected) => {
      const { id, api } = await newAccount({ billing, balance, creditLimit, price: 10 });
      const statuses: number[] = [];
      for (let i = 0; i < expected.length; i += 1) {
        statuses.push((await api.send({ to: '500100200', text: 'x' })).status);
      }
      expect(statuses).toEqual(expected);
      const left = balance - 10 * expected.filter((status) => status === 201).length;
      expect(await books(id)).toMatchObject({ balance: left, ledger: left });
    },
  );

  it('an overdue statement of a postpaid account stops sends until it is paid', async () => {
    const { id, api } = await newAccount({ balance: 0, price: 10, billing: 'postpaid', creditLimit: 100 });
    await database()`
      insert into statements (id, account_id, month, amount_grosze, due_at)
      values (${newId('st')}, ${id}, '2026-09-01', 500, now() + interval '1 minute')`;
    expect((await api.send({ to: '500100200', text: 'x' })).status).toBe(201);
    await database()`update statements set due_at = now() - interval '1 second' where account_id = ${id}`;
    expect(await api.send({ to: '500100200', text: 'x' })).toMatchObject(refusal(402));
    expect(await storedMessages(id)).toHaveLength(1);
    await database()`update statements set paid_at = now() where account_id = ${id}`;
    expect((await api.send({ to: '500100200', text: 'x' })).status).toBe(201);
  });

  it('an old statement of an account that is prepaid again stops nothing', async () => {
    const { id, api } = await newAccount({ balance: 100, price: 10 });
    await database()`
      insert into statements (id, account_id, month, amount_grosze, due_at)
      values (${newId('st')}, ${id}, '2026-09-01', 500, now() - interval '1 day')`;
    expect((await api.send({ to: '500100200', text: 'x' })).status).toBe(201);
  });

  it('50 sends at once against a balance for 10: ten are accepted', async () => {
    const { id, api } = await newAccount({ balance: 100, price: 10 });
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => api.send({ to: '500100200', text: 'x', send_at: ahead(DAY) })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    // On a machine busy with other things some may be given up for lack of time: nothing sent either.
    for (const { status } of answers.filter((answer) => answer.status !== 201)) {
      expect([402, 502, 504]).toContain(status);
    }
    expect(await books(id)).toMatchObject({ balance: 0, ledger: 0 });
    expect((await api.get('/v1/messages')).body.data).toHaveLength(10);
  });
});

describe('test accounts and keys', () => {
  it('a test account sends to verified numbers only, and pays in test credits', async () => {
    const verified = ['+48500100200', '+48500100201'];
    const { id, api } = await newAccount({ mode: 'test', balance: 0, testCredits: 3, verified, price: 10 });
    for (const to of ['500100299', ['500100200', '500100299']]) {
      expect(await api.send({ to, text: 'x' })).toMatchObject(refusal(403, 'to'));
    }
    const long = 'a'.repeat(200);
    expect((await api.send({ to: '500100200', text: long })).body).toMatchObject({
      parts: 2,
      cost_grosze: 20,
    });
    const batch = await api.send({ to: verified, text: 'x' });
    expect(batch.body).toMatchObject({ count: 2, test_mode: true, total_cost_grosze: 20 });
    expect(Object.keys(batch.body)).toEqual([
      'count',
      'accepted',
      'total_cost_grosze',
      'test_mode',
      'messages',
    ]);
    expect((await api.send({ to: '500100200', text: 'x' })).status).toBe(402);
    expect(await books(id)).toEqual({ balance: 0, ledger: 0, credits: 0 });
  });
});

describe('send time', () => {
  it('in the past means at once, also just now', async () => {
    const { api } = await newAccount();
    for (const sendAt of ['2001-01-01T00:00:00Z', ahead(-1000)]) {
      const body = await api.accepted({ to: '500100200', text: 'x', send_at: sendAt });
      expect(body).toMatchObject({ status: 'queued', send_at: null });
    }
  });

  it('in the future means scheduled, whatever the offset it is written with', async () => {
    const { api } = await newAccount();
    const at = new Date(Math.floor((Date.now() + DAY) / 1000) * 1000);
    const written = new Date(at.getTime() + 2 * HOUR).toISOString().replace('.000Z', '+02:00');
    const body = await api.accepted({ to: '500100200', text: 'x', send_at: written });
    expect(body).toMatchObject({ status: 'scheduled', send_at: at.toISOString() });
  });

  it('is at most 90 days ahead', async () => {
    const { api } = await newAccount();
    const send = (sendAt: string) => api.send({ to: '500100200', text: 'x', send_at: sendAt });
    expect((await send(ahead(90 * DAY - MINUTE))).status).toBe(201);
    expect(await send(ahead(90 * DAY + MINUTE))).toMatchObject(refusal(400, 'send_at'));
  });

  it('outside the window moves to its start; the request’s window stands before the account’s', async () => {
    const { api } = await newAccount({ sendWindow: '03:00-03:15' });
    const noon = new Date(Date.now() + 2 * DAY);
    noon.setUTCHours(11, 0, 0, 0);
    const send = (more: object) =>
      api.send({ to: '500100200', text: 'x', send_at: noon.toISOString(), ...more }).then(({ body }) => body);
    const moved = await send({});
    expect(moved.status).toBe('scheduled');
    expect(polishTime(moved.send_at)).toBe('03:00');
    expect(Date.parse(moved.send_at)).toBeGreaterThan(noon.getTime());
    expect(polishTime((await send({ send_window: '18:30-19:00' })).send_at)).toBe('18:30');
    expect((await send({ send_window: '06:00-23:00' })).send_at).toBe(noon.toISOString());
  });

  it('00:00-24:00 is any time: against the account’s window, as its window, in an estimate; 24:00 ends any window', async () => {
    const start = new Date(Date.now() + 3 * HOUR).toISOString();
    const end = new Date(Date.now() + 5 * HOUR).toISOString();
    const { api } = await newAccount({ sendWindow: `${polishTime(start)}-${polishTime(end)}` });
    const message = { to: '500100200', text: 'x' };
    expect((await api.send(message)).body.status).toBe('scheduled');
    const anyTime = { ...message, send_window: '00:00-24:00' };
    expect((await api.send(anyTime)).body).toMatchObject({ status: 'queued', send_at: null });
    const estimate = (await api.post('/v1/messages/estimate', anyTime)).body;
    expect(estimate.messages[0]).toMatchObject({ status: 'queued', send_at: null });
    const changed = await api.patch('/v1/account', { send_window: '00:00-24:00' });
    expect(changed).toMatchObject({ status: 200, body: { send_window: '00:00-24:00' } });
    expect((await api.get('/v1/account')).body).toMatchObject({ send_window: '00:00-24:00' });
    expect((await api.send(message)).body).toMatchObject({ status: 'queued', send_at: null });
    const noon = new Date(Date.now() + 2 * DAY);
    noon.setUTCHours(11, 0, 0, 0);
    const evening = { ...message, send_window: '20:00-24:00', send_at: noon.toISOString() };
    expect(polishTime((await api.send(evening)).body.send_at)).toBe('20:00');
  });

  it('expires_at lies 15 minutes to 72 hours after the send time, as moved by the window', async () => {
    const { api } = await newAccount();
    const base = Math.floor(Date.now() / 1000) * 1000 + DAY;
    const send = (expiresAt: number) =>
      api.send({
        ...{ to: '500100200', text: 'x', send_at: new Date(base).toISOString() },
        expires_at: new Date(expiresAt).toISOString(),
      });
    for (const expiresAt of [base + 15 * MINUTE, base + 72 * HOUR]) {
      expect((await send(expiresAt)).body.expires_at).toBe(new Date(expiresAt).toISOString());
    }
    for (const expiresAt of [base + 15 * MINUTE - 1, base + 72 * HOUR + 1, base - DAY]) {
      expect(await send(expiresAt)).toMatchObject(refusal(400, 'expires_at'));
    }
  });

  it('expires_at is where attempts end, in the row and in the workflow; else 72 h after the send time', async () => {
    const { api } = await newAccount();
    const connection = await Connection.connect({ address: inject('service').temporalAddress });
    const { workflow } = new Client({ connection });
    // What the workflow was started with. That of a batch's message is started after the answer.
    const startOf = (id: string) =>
      workflow
        .getHandle(id)
        .fetchHistory()
        .then(
          ({ events }) => events![0]!.workflowExecutionStartedEventAttributes!.input!.payloads![0]!.data!,
          () => null,
        );
    const sendAt = Math.floor(Date.now() / 1000) * 1000 + DAY;
    const send_at = new Date(sendAt).toISOString();
    try {
      for (const to of ['500100200', ['500100200', '500100201']]) {
        for (const lasts of [2 * HOUR, null]) {
          const giveUpAt = sendAt + (lasts ?? 72 * HOUR);
          const expires_at = lasts === null ? null : new Date(giveUpAt).toISOString();
          const body = await api.accepted({ to, text: 'x', send_at, expires_at });
          const { id } = Array.isArray(to) ? body.messages[0]! : body;
          const [row] = await database()`select give_up_at from messages where id = ${id}`;
          expect(row).toEqual({ giveUpAt: new Date(giveUpAt) });
          const input = await eventually(
            () => startOf(id),
            (found) => found !== null,
          );
          expect(JSON.parse(Buffer.from(input!).toString())).toMatchObject({ sendAt, giveUpAt });
        }
      }
    } finally {
      await connection.close();
    }
  });
});

function polishTime(instant: string): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: 'Europe/Warsaw',
    hour: '2-digit',
    minute: '2-digit',
  });
  return format.format(new Date(instant));
}
