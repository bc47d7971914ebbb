import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, inject, it } from 'vitest';
import type { ApiAnswer } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { database, newAccount, type TestAccount } from '../support/factories.ts';

const number = (i: number) => `+4860010${String(i).padStart(4, '0')}`;
const contacts = (count: number, value: string) =>
  Array.from({ length: count }, (_, i) => ({
    msisdn: number(i),
    fields: { a: value },
    groups: [`g${i % 9}`],
  }));

/** Asks one after the other until the work is done: each in time, or it would be 504. @returns how often */
async function askDuring(work: Promise<unknown>, ask: () => Promise<ApiAnswer>): Promise<number> {
  let [done, times] = [false, 0];
  const ended = work.finally(() => (done = true));
  for (; !done; times += 1) {
    expect((await ask()).status).toBeLessThan(300);
    await delay(50);
  }
  await ended;
  return times;
}

it('an account that keeps much under way does not keep another one from its account and its sends', async () => {
  const [greedy, other] = [await newAccount({ balance: 0 }), await newAccount()];
  await database()`
    insert into contacts (account_id, id, msisdn, first_name)
    select ${greedy.id}, 'ct_' || lpad(i::text, 26, '0'), '+48601' || (100000 + i), 'Jan' || i
      from generate_series(1, 10000) i`;
  const { api } = greedy;
  const work = Promise.all([
    ...Array.from({ length: 14 }, (_, i) => api.post('/v1/contacts', contacts(500, `${i}`))),
    ...Array.from({ length: 14 }, () => api.post('/v1/templates', { name: 'x', body: 'y' })),
    ...Array.from({ length: 30 }, (_, i) => api.get(`/v1/contacts?q=n${i % 10}&limit=200`)),
    ...Array.from({ length: 6 }, () => api.get('/v1/contacts', { accept: 'text/csv' })),
    ...Array.from({ length: 6 }, () => api.get('/v1/reports')),
  ]);
  let turn = 0;
  const asked = await askDuring(work, () => {
    turn += 1;
    return turn % 4 === 0 ? other.api.send({ to: '500100200', text: 'x' }) : other.api.get('/v1/account');
  });
  const statuses = new Set((await work).map(({ status }) => status));
  for (const status of statuses) expect([200, 201, 429, 504]).toContain(status);
  expect(asked).toBeGreaterThan(0);
});

describe('requests under way at once', () => {
  it('64 single sends are all taken', async () => {
    const account = await newAccount();
    const sends = Array.from({ length: 64 }, () => account.api.send({ to: '500100200', text: 'x' }));
    // On a machine that is busy otherwise some may end with 504, and be sent again; none is one too many.
    for (const { status } of await Promise.all(sends)) expect([201, 504]).toContain(status);
  });

  it('beyond 120 they are answered 429 with Retry-After; afterwards all is as before', async () => {
    const account = await newAccount();
    // Each API counts for itself, and a cluster has two.
    const asked = inject('service').apiPid === undefined ? 400 : 200;
    const answers = await Promise.all(
      Array.from({ length: asked }, () => account.api.post('/v1/contacts', contacts(20, 'x'))),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThanOrEqual(asked - 120);
    for (const { headers, body } of refused) {
      expect(headers.get('retry-after')).toBe('1');
      expect(body.error.code).toBe('rate_limited');
    }
    expect((await account.api.get('/v1/account')).status).toBe(200);
  });

  it('of large bodies two are taken at least, and not all', async () => {
    const account = await newAccount();
    const large = contacts(500, 'x'.repeat(190));
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => account.api.post('/v1/contacts', large)),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201).length).toBeGreaterThanOrEqual(2);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
    expect((await account.api.post('/v1/contacts', large)).status).toBe(201);
  });

  it('of small bodies that make long texts for many, neither', async () => {
    const account = await newAccount({ rateLimit: 10_000, balance: 0 });
    const to = Array.from({ length: 500 }, (_, i) => number(i));
    const smil = `<smil><body><text>{{imie}}${'x'.repeat(9_900)}</text></body></smil>`;
    const estimate = () => account.api.post('/v1/mms/estimate', { to, subject: 'x', smil });
    const short = () => account.api.post('/v1/messages/estimate', { to, text: '{{imie}} x' });
    const answers = await Promise.all(Array.from({ length: 30 }, estimate));
    const taken = answers.filter(({ status }) => status === 200).length;
    expect(answers.filter(({ status }) => status === 429).length).toBe(30 - taken);
    expect(taken).toBeGreaterThanOrEqual(2);
    expect(taken).toBeLessThan(30);
    const light = await Promise.all(Array.from({ length: 30 }, short));
    expect(new Set(light.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('of long pages, and of long answers that are given again, few are held for clients that do not read them', async () => {
    const account = await newAccount({ rateLimit: 10_000, balance: 1_000_000 });
    const to = Array.from({ length: 500 }, (_, i) => number(i));
    // A page is more than the 4 MB that a system takes on for a client that does not read.
    const smil = `<smil><body><text>${'😀'.repeat(9_900)}</text></body></smil>`;
    const mms = { to, subject: 'x', smil, send_at: new Date(Date.now() + 86_400_000).toISOString() };
    const key = { 'idempotency-key': 'long' };
    const send = () => account.api.post('/v1/mms', mms, key);
    const list = () => account.api.get('/v1/messages?limit=200');
    const first = await send();
    expect(first.status).toBe(201);
    for (const [ask, line, body] of [
      [send, 'POST /v1/mms', JSON.stringify(mms)],
      [list, 'GET /v1/messages?limit=200', ''],
    ] as const) {
      const sockets = Array.from({ length: 8 }, () => unread(account, line, body, key));
      await eventually(ask, ({ status }) => status === 429);
      expect((await account.api.get('/v1/messages?limit=10')).status).toBe(200);
      for (const socket of sockets) socket.destroy();
      await eventually(ask, ({ status }) => status < 300);
    }
    expect((await send()).body).toEqual(first.body);
  });
});

/** A request whose answer nobody reads. */
function unread({ key }: TestAccount, line: string, body: string, headers: Record<string, string>): Socket {
  const { hostname, port } = new URL(inject('service').apiUrl);
  const socket = connect(Number(port), hostname).pause();
  socket.on('error', () => undefined);
  const named = { ...headers, 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
  const head = [`${line} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${key}`];
  const lines = Object.entries(named).map(([name, value]) => `${name}: ${value}`);
  socket.write(`${[...head, ...lines].join('\r\n')}\r\n\r\n${body}`);
  return socket;
}
