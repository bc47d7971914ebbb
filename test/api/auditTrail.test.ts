import { Writable } from 'node:stream';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { RunningApi } from '../../api/server.ts';
import { apiClient } from '../support/client.ts';
import { newEarlierAccount } from '../support/earlierClient.ts';
import { eventually } from '../support/eventually.ts';
import { database, newAccount, newKey } from '../support/factories.ts';
import { startOwnApi } from '../support/ownApi.ts';

interface Trace {
  actor: string;
  action: string;
  subject: string | null;
  details: unknown;
  requestId: string | null;
  address: string | null;
}

const tracesOf = async (accountId: string): Promise<Trace[]> => [
  ...(await database()<Trace[]>`
    select l.actor, l.action, l.subject, l.details, l.request_id, host(a.address) as address
      from audit_log l left join audit_addresses a on a.audit_id = l.id
     where l.account_id = ${accountId} order by l.id`),
];

describe('changes through the API', () => {
  it('of settings say who made them, from where, in which request, and what was before', async () => {
    const { id, keyId, api } = await newAccount({ senders: ['SKLEP'] });
    const first = await api.patch('/v1/account', { sender_name: 'SKLEP', send_window: '08:00-20:00' });
    const second = await api.patch('/v1/account', { sender_name: null, send_window: '08:00-20:00' });
    const common = { actor: keyId, action: 'account settings', subject: null };
    expect(await tracesOf(id)).toEqual([
      {
        ...{ ...common, requestId: first.headers.get('x-request-id'), address: '127.0.0.1' },
        details: { sender_name: { from: null, to: 'SKLEP' }, send_window: { from: null, to: '08:00-20:00' } },
      },
      {
        ...{ ...common, requestId: second.headers.get('x-request-id'), address: '127.0.0.1' },
        details: { sender_name: { from: 'SKLEP', to: null } },
      },
    ]);
  });

  it('of the webhook have neither secrets nor path and query of its address', async () => {
    const { id, api } = await newAccount();
    const put = async (body: object) => (await api.put('/v1/account/webhook', body)).body.webhook_secret;
    const secrets = [
      await put({ url: 'https://example.com/hook?token=abc123' }),
      await put({ url: 'https://example.com/hook?token=def456' }),
      await put({ url: 'https://example.com/hook?token=def456', rotate_secret: true }),
      await put({ url: null }),
    ];
    const traces = await tracesOf(id);
    expect(traces.map(({ action, details }) => [action, details])).toEqual([
      ['webhook', { url: { from: null, to: 'https://example.com/…' }, secret: { from: null, to: 'new' } }],
      ['webhook', { url: { from: 'https://example.com/…', to: 'https://example.com/… (other path)' } }],
      ['webhook', { secret: { from: 'former', to: 'new' } }],
      ['webhook', { url: { from: 'https://example.com/…', to: null } }],
    ]);
    for (const secret of [...secrets, 'abc123', 'def456'])
      expect(JSON.stringify(traces)).not.toContain(secret);
  });

  it('that change nothing, or are refused, leave nothing', async () => {
    const [{ id, api }, other] = await Promise.all([newAccount(), newAccount()]);
    const prefix = `P${other.id.slice(-7)}`;
    await other.api.patch('/v1/account', { inbound_prefix: prefix });
    expect((await api.patch('/v1/account', { send_window: null })).status).toBe(200);
    expect((await api.patch('/v1/account', { inbound_prefix: prefix })).status).toBe(409);
    expect((await api.patch('/v1/account', { sender_name: 'OBCY' })).status).toBe(422);
    const reader = await newAccount({ scopes: ['read'] });
    expect((await reader.api.patch('/v1/account', { send_window: '08:00-20:00' })).status).toBe(403);
    expect((await reader.api.put('/v1/account/webhook', { url: 'https://example.com' })).status).toBe(403);
    const stranger = apiClient(inject('service').apiUrl);
    expect((await stranger.patch('/v1/account', { send_window: '08:00-20:00' })).status).toBe(401);
    expect(await tracesOf(id)).toEqual([]);
    expect(await tracesOf(reader.id)).toEqual([]);
  });

  it('made at once each say what the one before them left', async () => {
    const { id, api } = await newAccount();
    const windows = Array.from({ length: 20 }, (_, hour) => `0${hour % 10}:00-2${hour % 4}:30`);
    await Promise.all(windows.map((window) => api.patch('/v1/account', { send_window: window })));
    const steps = (await tracesOf(id)).map(
      ({ details }) => (details as { send_window: { from: string | null; to: string } }).send_window,
    );
    steps.forEach(({ from }, index) => expect(from).toBe(steps[index - 1]?.to ?? null));
    expect((await api.get('/v1/account')).text).toContain(steps.at(-1)!.to);
  });
});

describe('changes through the API have a bound', () => {
  const windows = (count: number) => Array.from({ length: count }, (_, i) => `0${i}:00-20:00`);
  /** Records of an account, as many requests left them so many hours ago; without a request: commands of staff. */
  async function recorded(id: string, count: number, hoursAgo: number, byApi = true): Promise<void> {
    await database()`
      insert into audit_log (at, actor, action, account_id, request_id)
      select now() - make_interval(hours => ${hoursAgo}), 'x', 'account settings', ${id}, ${byApi ? 'req_x' : null}
        from generate_series(1, ${count})`;
  }
  const countOf = async (id: string) => (await tracesOf(id)).filter(({ actor }) => actor !== 'x').length;

  it('of 1,000 in 24 hours, of settings and webhook together, however many come at once', async () => {
    const [{ id, api }, other] = [await newAccount(), await newAccount()];
    await recorded(id, 1_000, 25);
    await recorded(id, 995, 20);
    await recorded(other.id, 1_000, 1);
    await recorded(id, 1_000, 1, false);
    const answers = await Promise.all([
      ...windows(8).map((send_window) => api.patch('/v1/account', { send_window })),
      ...windows(8).map((_, i) => api.put('/v1/account/webhook', { url: `https://example.com/${i}` })),
    ]);
    const refused = answers.filter(({ status }) => status === 429);
    expect([answers.filter(({ status }) => status === 200).length, refused.length]).toEqual([5, 11]);
    for (const { headers, body } of refused) {
      expect(body.error).toMatchObject({ code: 'rate_limited' });
      expect(body.error.message).toContain('1000');
      const seconds = Number(headers.get('retry-after'));
      expect(seconds).toBeGreaterThan(3.9 * 3_600);
      expect(seconds).toBeLessThanOrEqual(4 * 3_600);
    }
    expect(await countOf(id)).toBe(5);
  });

  it('that concerns nothing that changes nothing, and what is refused changes nothing', async () => {
    const { id, api } = await newAccount();
    expect((await api.patch('/v1/account', { send_window: '08:00-20:00' })).status).toBe(200);
    const url = 'https://example.com/a';
    const { webhook_secret: secret } = (await api.put('/v1/account/webhook', { url })).body;
    const before = (await api.get('/v1/account')).text;
    await recorded(id, 999, 1);
    expect((await api.patch('/v1/account', { send_window: '08:00-20:00' })).status).toBe(200);
    expect((await api.put('/v1/account/webhook', { url })).body.webhook_secret).toBe(secret);
    expect((await api.patch('/v1/account', { send_window: null })).status).toBe(429);
    expect((await api.put('/v1/account/webhook', { url: null })).status).toBe(429);
    expect((await api.put('/v1/account/webhook', { url, rotate_secret: true })).status).toBe(429);
    expect((await api.get('/v1/account')).text).toBe(before);
    expect((await api.put('/v1/account/webhook', { url })).body.webhook_secret).toBe(secret);
    expect(await countOf(id)).toBe(2);
  });
});

describe('the line of the log of a request', () => {
  let behindProxy: RunningApi;
  const lines: string[] = [];
  const log = new Writable({
    decodeStrings: false,
    write: (line: string, _, done) => {
      lines.push(line);
      done();
    },
  });
  beforeAll(async () => {
    behindProxy = await startOwnApi({ config: { TRUST_PROXY: true }, log: pino(log) });
  });
  afterAll(() => behindProxy.stop());

  type Line = Record<string, unknown>;
  async function lineOf(init: RequestInit, path: string): Promise<Line> {
    const response = await fetch(behindProxy.url + path, { redirect: 'manual', ...init });
    await response.text();
    const id = response.headers.get('x-request-id')!;
    const line = await eventually(
      () => Promise.resolve(lines.find((text) => text.includes(id) && text.includes('"request"'))),
      (found) => found !== undefined,
    );
    return JSON.parse(line!) as Line;
  }
  const bearer = (key: string, from = '203.0.113.9') => ({
    ...{ authorization: `Bearer ${key}`, 'x-forwarded-for': from },
    'content-type': 'application/json',
  });

  it.each(['PATCH /v1/account', 'DELETE /v1/contacts/:id', 'GET /v1/inbound'])(
    '%s has key and address, also where it is refused',
    async (declared) => {
      const [method = '', route = ''] = declared.split(' ');
      const path = route.replace(':id', 'x');
      const { id, key, keyId } = await newAccount();
      const known = { keyId, address: '203.0.113.9' };
      const ask = (by = key) => lineOf({ method, headers: bearer(by) }, path);
      expect(await ask()).toMatchObject({ ...known, route, accountId: id });
      const none = await newKey(id, 'live', []);
      expect(await ask(none.key)).toMatchObject({ ...known, keyId: none.keyId, reason: 'scope_missing' });
      await database()`update accounts set rate_limit_per_minute = 1 where id = ${id}`;
      expect(await ask()).toMatchObject({ ...known, status: 429, reason: 'rate_limited' });
      await database()`
        update accounts set rate_limit_per_minute = 1000, status = 'suspended' where id = ${id}`;
      expect(await ask()).toMatchObject({ ...known, reason: 'account_suspended' });
    },
  );

  it('of a request with a token has the token and the address, also where it is refused', async () => {
    const { id, token, tokenId } = await newEarlierAccount();
    const known = { accountId: id, keyId: tokenId, address: '203.0.113.9' };
    const ask = () => lineOf({ method: 'POST', headers: bearer(token), body: '{"x":1}' }, '/v1/sms');
    expect(await ask()).toMatchObject({ ...known, route: '/v1/sms' });
    await database()`update accounts set status = 'suspended' where id = ${id}`;
    expect(await ask()).toMatchObject({ ...known, reason: 'account_suspended' });
  });

  it('has a reason and the address where no key is in force, and nothing of what was given as a key', async () => {
    const { key, keyId } = await newAccount();
    await database()`update api_keys set revoked_at = now() where id = ${keyId}`;
    for (const [headers, reason] of [
      [{ 'x-forwarded-for': '203.0.113.9' }, 'key_missing'],
      [bearer(key), 'key_invalid'],
      [bearer('pk_live_nonsense'), 'key_invalid'],
      [bearer(key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a')), 'key_invalid'],
    ] as const) {
      for (const method of ['GET', 'PATCH']) {
        const line = await lineOf({ method, headers }, '/v1/account');
        expect(line).toMatchObject({ status: 401, reason, address: '203.0.113.9', accountId: null });
        expect(line).not.toHaveProperty('keyId');
      }
    }
    const text = lines.join('');
    expect(text).not.toContain(key.slice(8, 20));
    expect(text).not.toContain(key.slice(-6));
    expect(text).not.toContain('nonsense');
  });

  it('of who only reads, and of who opens a page, has no address', async () => {
    const { key, keyId } = await newAccount();
    const read = await lineOf({ headers: bearer(key) }, '/v1/account');
    expect(read).toMatchObject({ status: 200, keyId });
    expect(read).not.toHaveProperty('address');
    for (const method of ['GET', 'POST']) {
      const opened = await lineOf({ method, headers: { 'x-forwarded-for': '203.0.113.9' } }, '/o/abcdefgh');
      expect(opened).not.toHaveProperty('address');
    }
  });

  it.each([
    ['198.51.100.4, 203.0.113.9', '203.0.113.9'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['unknown', '127.0.0.1'],
  ])('behind a proxy that wrote "%s" names %s, as the audit log does', async (forwarded, address) => {
    const { id, key } = await newAccount();
    const body = JSON.stringify({ send_window: '08:00-20:00' });
    const line = await lineOf({ method: 'PATCH', headers: bearer(key, forwarded), body }, '/v1/account');
    expect(line).toMatchObject({ status: 200, address });
    expect(await tracesOf(id)).toMatchObject([{ address, requestId: line['requestId'] }]);
  });
});
