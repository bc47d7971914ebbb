import { connect, type Socket } from 'node:net';
import { describe, expect, inject, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { newAccount, type TestAccount } from '../support/factories.ts';

const number = (i: number) => `+4860010${String(i).padStart(4, '0')}`;
const contacts = (count: number, value: string) =>
  Array.from({ length: count }, (_, i) => ({
    msisdn: number(i),
    fields: { a: value },
    groups: [`g${i % 9}`],
  }));

describe('requests under way at once', () => {
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

/** A request whose answer is never read. */
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
