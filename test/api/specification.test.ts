import { Client, Connection } from '@temporalio/client';
import { getExampleNumber } from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { endpoints } from '../../api/endpoints.ts';
import { MESSAGE_STATUSES } from '../../domain/statuses.ts';
import { apiClient, call } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { books, database, newAccount, newKey, type TestAccount, untilStatus } from '../support/factories.ts';
import { startReceiver, type WebhookReceiver } from '../support/webhookReceiver.ts';
import { refusal } from './refusal.ts';

// What the interface description says and no other test checks.

const DAY = 86_400_000;
const base = () => inject('service').apiUrl;
const later = new Date(Date.now() + DAY).toISOString();
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const EU = [
  ...(['AT', 'BE', 'BG', 'HR', 'CY', 'CZ', 'DK', 'EE', 'FI'] as const),
  ...(['FR', 'DE', 'GR', 'HU', 'IE', 'IT', 'LV', 'LT', 'LU'] as const),
  ...(['MT', 'NL', 'PL', 'PT', 'RO', 'SK', 'SI', 'ES', 'SE'] as const),
];
const MESSAGE_FIELDS = [
  ...['id', 'type', 'status', 'to', 'from', 'text', 'subject', 'parts', 'cost_grosze', 'priority'],
  ...['reference', 'send_at', 'expires_at', 'delivered_at', 'error', 'created_at', 'updated_at'],
];

const openReceivers: WebhookReceiver[] = [];
afterEach(async () => {
  for (const receiver of openReceivers.splice(0)) await receiver.close();
});

async function listening({ api }: TestAccount): Promise<WebhookReceiver> {
  const receiver = await startReceiver();
  openReceivers.push(receiver);
  receiver.useSecret((await api.put('/v1/account/webhook', { url: receiver.url })).body.webhook_secret);
  return receiver;
}

describe('every answer', () => {
  it('has a request id of its own, pages and refusals too', async () => {
    const requests: [string, string][] = [
      ['GET', '/v1/health'],
      ['HEAD', '/v1/health'],
      ['GET', '/v1/account'],
      ['GET', '/nothing'],
      ['GET', '/v1/messages/%00'],
      ['POST', '/v1/account'],
      ['OPTIONS', '/v1/messages'],
      ['GET', '/v1/openapi.json'],
      ['GET', '/o/nothing'],
      ['GET', '/l/nothing'],
    ];
    const answers = await Promise.all(
      requests.map(([method, path]) => fetch(base() + path, { method, redirect: 'manual' })),
    );
    const ids = answers.map(({ headers }) => headers.get('x-request-id'));
    for (const id of ids) expect(id).toMatch(/^req_[0-9a-z]{26}$/);
    expect(new Set(ids).size).toBe(requests.length);
  });

  it('comes from a path that begins with the version', () => {
    expect(endpoints.filter(({ path }) => !path.startsWith('/v1/'))).toEqual([]);
  });

  it('names things by ids with their prefixes', async () => {
    const { api } = await newAccount();
    const ids = {
      cl_: (await api.get('/v1/account')).body.id,
      msg_: (await api.send({ to: '500100200', text: 'x', send_at: later })).body.id,
      tpl_: (await api.post('/v1/templates', { name: 'a', body: 'b' })).body.id,
      ct_: (await api.post('/v1/contacts', { msisdn: '500100200' })).body.id,
      gr_: (await api.post('/v1/groups', { name: 'a' })).body.id,
    };
    for (const [prefix, id] of Object.entries(ids)) expect(id).toMatch(new RegExp(`^${prefix}[0-9a-z]{26}$`));
  });
});

describe('a Message', () => {
  it('tells its times in ISO 8601 and its money in whole grosze; updated_at follows its status', async () => {
    const account = await newAccount({ price: 7 });
    const body = await account.api.accepted({ to: '500100200', text: 'x' });
    const done = await untilStatus(account, body.id, 'delivered');
    for (const field of ['created_at', 'updated_at', 'delivered_at']) expect(done[field]).toMatch(INSTANT);
    expect(Date.parse(done.updated_at)).toBeGreaterThan(Date.parse(done.created_at));
    expect(done.updated_at).toBe(done['delivered_at']);
    expect([done.created_at, done.cost_grosze]).toEqual([body.created_at, 7]);
    const planned = await account.api.send({
      ...{ to: '500100200', text: 'x', send_at: later },
      expires_at: new Date(Date.parse(later) + DAY).toISOString(),
    });
    for (const field of [planned.body.send_at, planned.body.expires_at]) expect(field).toMatch(INSTANT);
  });

  it('in a list has the fields of a Message; `links` only when fetched by its id', async () => {
    const { api } = await newAccount();
    const sent = await api.send({
      ...{ to: ['500100200'], text: 'x', send_at: later },
      ...{ reference: 'r', priority: true },
    });
    const [listed] = (await api.get('/v1/messages')).body.data;
    const read = (await api.get(`/v1/messages/${listed!.id}`)).body;
    expect(Object.keys(sent.body.messages[0]!)).toEqual(MESSAGE_FIELDS);
    expect(Object.keys(listed!)).toEqual(MESSAGE_FIELDS);
    expect(Object.keys(read)).toEqual([...MESSAGE_FIELDS, 'links']);
    expect(listed).toEqual(sent.body.messages[0]);
    expect(read).toEqual({ ...listed, links: [] });
  });

  it('tells an error only when it is failed or rejected; a number on the blacklist by opt-out is said to have opted out, no other', async () => {
    const account = await newAccount();
    await account.api.post('/v1/blacklist', { msisdn: '500100204', reason: 'opt_out' });
    await account.api.post('/v1/blacklist', { msisdn: '500100205' });
    await account.api.post('/v1/blacklist', { msisdn: '500100206', reason: 'urlop' });
    const send = async (to: string) => (await account.api.send({ to, text: 'x' })).body.id;
    const undelivered = await untilStatus(account, await send('500100901'), 'undelivered');
    expect(undelivered['error']).toBeNull();
    const failed = await untilStatus(account, await send('500100902'), 'failed');
    expect(failed['error']).toMatch(/odrzucona przez operatora/);
    const rejected = await untilStatus(account, await send('500100204'), 'rejected');
    expect(rejected['error']).toMatch(/czarnej liście.*zrezygnował/);
    for (const to of ['500100205', '500100206']) {
      const listed = await untilStatus(account, await send(to), 'rejected');
      expect(listed['error']).toBe('Numer jest na czarnej liście konta.');
      const { body } = await account.api.post('/v1/messages/estimate', { to, text: 'x' });
      expect(body.messages).toMatchObject([{ status: 'rejected', error: listed['error'] }]);
    }
    expect(rejected).toMatchObject({ cost_grosze: 0, delivered_at: null });
  });

  it('goes to every country of the European Union', async () => {
    const { api } = await newAccount({ price: 10 });
    const to = EU.map((country) => getExampleNumber(country, examples)!.number);
    const { status, body } = await api.send({ to, text: 'x', send_at: later });
    expect([status, body.count, body.accepted]).toEqual([201, 27, 27]);
    expect(body.messages.map(({ cost_grosze }) => cost_grosze)).toEqual(
      EU.map((country) => (country === 'PL' ? 10 : 20)),
    );
  });

  it('says what its template says, whatever `text` stands beside it', async () => {
    const { api } = await newAccount();
    const template_id = (await api.post('/v1/templates', { name: 'a', body: 'Z szablonu' })).body.id;
    const body = await api.accepted({ to: '500100200', text: 'x', template_id, send_at: later });
    expect(body.text).toBe('Z szablonu');
  });

  it('with priority goes before those without, of a batch too', async () => {
    const { api } = await newAccount();
    const connection = await Connection.connect({ address: inject('service').temporalAddress });
    const keyOf = async (to: string | string[], priority: boolean): Promise<number> => {
      const body = await api.accepted({ to, text: 'x', send_at: later, priority });
      const message = Array.isArray(to) ? body.messages[0]! : body;
      expect(message).toMatchObject({ priority });
      const handle = new Client({ connection }).workflow.getHandle(message.id);
      // A batch starts its messages after its answer.
      const run = await eventually(
        () => handle.describe().catch(() => null),
        (found) => found !== null,
      );
      return run!.priority!.priorityKey!;
    };
    const batch = ['500100200', '500100201'];
    const [one, ofBatch] = [await keyOf('500100200', true), await keyOf(batch, true)];
    const [other, ofOther] = [await keyOf('500100200', false), await keyOf(batch, false)];
    expect(Math.max(one, ofBatch)).toBeLessThan(Math.min(other, ofOther));
    await connection.close();
  });

  it('can be asked for by every status of the interface', async () => {
    const { api } = await newAccount();
    const statuses = MESSAGE_STATUSES.map((status) => api.get(`/v1/messages?status=${status}`));
    for (const { status, body } of await Promise.all(statuses))
      expect([status, body]).toEqual([200, { data: [], next_cursor: null }]);
    expect([...MESSAGE_STATUSES].sort()).toEqual(
      [
        ...['scheduled', 'queued', 'sent', 'delivered', 'undelivered'],
        ...['failed', 'expired', 'rejected', 'cancelled'],
      ].sort(),
    );
  });

  it('of another account is on no page, whatever cursor is handed over', async () => {
    const [one, other] = await Promise.all([newAccount(), newAccount()]);
    const send = async ({ api }: TestAccount) =>
      (await api.send({ to: ['500100201', '500100202', '500100203'], text: 'x', send_at: later })).body
        .messages;
    const [first] = await send(one);
    const foreign = await send(other);
    const { next_cursor: cursor } = (await other.api.get('/v1/messages?limit=1')).body;
    const page = (await one.api.get(`/v1/messages?cursor=${cursor}`)).body.data.map(({ id }) => id);
    expect(page).toContain(first!.id);
    for (const { id } of foreign) expect(page).not.toContain(id);
  });
});

describe('the account', () => {
  it('in test mode tells how many free messages are left', async () => {
    const account = await newAccount({
      mode: 'test',
      balance: 0,
      testCredits: 25,
      verified: ['+48500100200'],
    });
    const shown = async () => (await account.api.get('/v1/account')).body;
    expect(await shown()).toMatchObject({ mode: 'test', test_credits: 25, balance_grosze: 0 });
    await account.api.send({ to: '500100200', text: 'x', send_at: later });
    expect(await shown()).toMatchObject({ test_credits: 24, balance_grosze: 0 });
    const live = await newAccount({ testCredits: 3 });
    expect((await live.api.get('/v1/account')).body).toMatchObject({ mode: 'live', test_credits: 0 });
  });

  it('on postpaid shows a balance below zero, and its limit', async () => {
    const { api } = await newAccount({ balance: 0, price: 10, billing: 'postpaid', creditLimit: 15 });
    expect((await api.send({ to: '500100200', text: 'x', send_at: later })).status).toBe(201);
    expect((await api.get('/v1/account')).body).toMatchObject({
      ...{ billing_mode: 'postpaid', balance_grosze: -10, credit_limit_grosze: 15 },
    });
    expect((await api.send({ to: '500100200', text: 'x', send_at: later })).status).toBe(402);
  });

  it('shows the scopes of the key that asks', async () => {
    const { id, api } = await newAccount();
    const scopesOf = async (client: typeof api) =>
      ((await client.get('/v1/account')).body as unknown as { scopes: string[] }).scopes;
    expect(await scopesOf(api)).toEqual(['send', 'read', 'manage']);
    const { key } = await newKey(id, 'live', ['read']);
    expect(await scopesOf(apiClient(base(), key))).toEqual(['read']);
  });

  it('null gives the operator’s sender back, and turns the window off', async () => {
    const { api } = await newAccount({
      senders: ['SKLEP'],
      defaultSender: 'SKLEP',
      sendWindow: awayWindow(),
    });
    const send = async () => (await api.send({ to: '500100200', text: 'x' })).body;
    expect(await send()).toMatchObject({ from: 'SKLEP', status: 'scheduled' });
    expect((await api.patch('/v1/account', { sender_name: null, send_window: null })).status).toBe(200);
    expect(await send()).toMatchObject({ from: 'INFO', status: 'queued', send_at: null });
  });
});

describe('limits', () => {
  it('a request for 500 numbers counts as one', async () => {
    const { api } = await newAccount({ rateLimit: 10, balance: 0 });
    const to = Array.from({ length: 500 }, (_, i) => `+48500${String(100_000 + i)}`);
    const answer = await api.send({ to, text: 'x' });
    expect([answer.status, answer.headers.get('ratelimit')]).toEqual([
      402,
      expect.stringContaining('r=9;') as string,
    ]);
  });

  it('120 requests a minute unless agreed otherwise', async () => {
    const account = await newAccount();
    await database()`update accounts set rate_limit_per_minute = default where id = ${account.id}`;
    const { headers, body } = await account.api.get('/v1/account');
    expect(body).toMatchObject({ rate_limit_per_minute: 120 });
    expect(headers.get('ratelimit-policy')).toBe('"account";q=120;w=60');
  });
});

describe('authentication', () => {
  it('is asked for by every endpoint with a scope: 401', async () => {
    // E-mail is an endpoint of the earlier interface, and so is its refusal: v1_2/tokens.test.ts has it.
    const ours = endpoints.filter(({ scope, path }) => scope !== null && !path.startsWith('/v1/email'));
    for (const { method, path } of ours) {
      const answer = await call(base() + path.replaceAll(/:\w+/g, 'x'), { method });
      expect(answer, `${method} ${path}`).toMatchObject(refusal(401));
    }
  });

  it('is not asked for by GET /v1/health, and a wrong key does no harm there', async () => {
    for (const headers of [{}, { authorization: 'Bearer nonsense' }]) {
      const { body } = await eventually(
        () => call(`${base()}/v1/health`, { headers }),
        ({ status }) => status === 200,
      );
      expect(body).toEqual({ status: 'ok', service: 'goniec', version: '2.3.0' });
    }
  });
});

describe('webhooks', () => {
  it('tell of sent, undelivered and failed; of scheduled, cancelled and rejected messages nothing', async () => {
    const began = Date.now();
    const account = await newAccount();
    const receiver = await listening(account);
    await account.api.post('/v1/blacklist', { msisdn: '500100204' });
    const send = async (to: string, more = {}) =>
      (await account.api.send({ to, text: 'x', reference: 'r', ...more })).body.id;
    const cancelled = await send('500100200', { send_at: later });
    expect((await account.api.delete(`/v1/messages/${cancelled}`)).status).toBe(200);
    await send('500100204');
    const undelivered = await send('500100901');
    const failed = await send('500100902');
    const calls = await receiver.until((all) => all.length >= 3);
    const told = calls.map(({ event }) => `${event.type} ${event.data.message.id}`);
    expect(told.sort()).toEqual(
      [
        `message.sent ${undelivered}`,
        `message.undelivered ${undelivered}`,
        `message.failed ${failed}`,
      ].sort(),
    );
    for (const { event, headers, verified, at } of calls) {
      expect(verified).toBe(true);
      expect(headers['content-type']).toMatch(/^application\/json/);
      expect(Object.keys(event)).toEqual(['id', 'type', 'created_at', 'data']);
      expect([event.id, event.created_at]).toEqual([
        expect.stringMatching(/^evt_[0-9a-z]{26}$/) as string,
        expect.stringMatching(INSTANT) as string,
      ]);
      expect(Date.parse(event.created_at)).toBeGreaterThanOrEqual(began);
      expect(Date.parse(event.created_at)).toBeLessThanOrEqual(at);
      expect(Object.keys(event.data)).toEqual(['message']);
      expect(Object.keys(event.data.message)).toEqual(MESSAGE_FIELDS);
      expect(event.data.message.reference).toBe('r');
      expect(event.data.message.error).toEqual(
        event.type === 'message.failed' ? expect.stringContaining('odrzucona przez operatora') : null,
      );
    }
  });
});

describe('cancelling', () => {
  it('shows in the history, and the cost stays what it was while the balance has it back', async () => {
    const account = await newAccount({ balance: 100, price: 10 });
    const body = await account.api.accepted({ to: '500100200', text: 'x', send_at: later });
    const cancelled = (await account.api.delete(`/v1/messages/${body.id}`)).body;
    expect(cancelled).toMatchObject({ cost_grosze: 10, error: null, status: 'cancelled' });
    expect(Date.parse(cancelled.updated_at)).toBeGreaterThan(Date.parse(body.updated_at));
    expect((await account.api.get('/v1/messages?status=cancelled')).body.data).toEqual([cancelled]);
    expect((await account.api.get('/v1/account')).body).toMatchObject({ balance_grosze: 100 });
    expect(await books(account.id)).toMatchObject({ balance: 100, ledger: 100 });
  });
});

/** A window of an hour that begins two hours from now, so that now is outside. */
function awayWindow(): string {
  const clock = (hours: number) =>
    new Intl.DateTimeFormat('en-GB', {
      timeZone: 'Europe/Warsaw',
      hour: '2-digit',
      minute: '2-digit',
    }).format(new Date(Date.now() + hours * 3_600_000));
  return `${clock(2)}-${clock(3)}`;
}
