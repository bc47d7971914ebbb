import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { endpoints } from '../../api/endpoints.ts';
import type { Endpoint, Scope } from '../../api/endpoint.ts';
import { apiClient, type ApiAnswer, call } from '../support/client.ts';
import { database, newAccount, newKey, type TestAccount } from '../support/factories.ts';
import { type ServiceProcess, spawnProcess } from '../support/service.ts';

const base = () => inject('service').apiUrl;
const later = new Date(Date.now() + 86_400_000).toISOString();
const name = ({ method, path }: Endpoint) => `${method} ${path}`;

/** How each endpoint is called for the tests of access; a new endpoint without a case fails them. */
const cases: Record<string, (account: TestAccount, messageId: string) => Promise<ApiAnswer>> = {
  'POST /v1/messages': ({ api }) => api.send({ to: '500100200', text: 'x', send_at: later }),
  'GET /v1/messages': ({ api }) => api.get('/v1/messages'),
  'GET /v1/messages/:id': ({ api }, id) => api.get(`/v1/messages/${id}`),
  'DELETE /v1/messages/:id': ({ api }, id) => api.delete(`/v1/messages/${id}`),
  'GET /v1/account': ({ api }) => api.get('/v1/account'),
  'PATCH /v1/account': ({ api }) => api.patch('/v1/account', { send_window: '08:00-20:00' }),
  'GET /v1/senders': ({ api }) => api.get('/v1/senders'),
  'PUT /v1/account/webhook': ({ api }) => api.put('/v1/account/webhook', { url: 'https://example.com/b' }),
};
const guarded = endpoints.filter(({ scope }) => scope !== null);

async function withKey(account: TestAccount, scopes: Scope[]): Promise<TestAccount> {
  const { key, keyId } = await newKey(account.id, 'live', scopes);
  return { ...account, key, keyId, api: apiClient(base(), key) };
}

describe('every endpoint', () => {
  it('has a case here', () => {
    expect(guarded.map(name).sort()).toEqual(Object.keys(cases).sort());
  });

  it.each(guarded.map((endpoint) => [name(endpoint), endpoint] as const))(
    '%s needs its scope',
    async (route, endpoint) => {
      const account = await newAccount();
      const { body } = await account.api.send({ to: '500100200', text: 'x', send_at: later });
      const others = (['send', 'read', 'manage'] as const).filter((scope) => scope !== endpoint.scope);
      const refused = await cases[route]!(await withKey(account, others), body.id);
      expect(refused).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
      expect(refused.body.error.message).toContain(endpoint.scope);
      expect((await cases[route]!(await withKey(account, [endpoint.scope!]), body.id)).status).toBeLessThan(
        300,
      );
    },
  );

  it.each(guarded.map(name))('%s shows and changes nothing of another account', async (route) => {
    const victim = await newAccount({ senders: ['OFIARA'], defaultSender: 'OFIARA', balance: 777 });
    await victim.api.put('/v1/account/webhook', { url: 'https://example.com/a' });
    const { body } = await victim.api.send({
      to: '500100777',
      text: 'tajne',
      send_at: later,
      reference: 'tajne',
    });
    const before = await everythingOf(victim);
    const answer = await cases[route]!(await newAccount(), body.id);
    if (route.includes(':id')) expect(answer.status).toBe(404);
    expect(answer.text).not.toMatch(/tajne|OFIARA|500100777|example\.com\/a/);
    expect(answer.text).not.toContain(victim.id);
    expect(await everythingOf(victim)).toEqual(before);
  });

  it.each(guarded.map(name))('%s is closed to suspended and closed accounts', async (route) => {
    const account = await newAccount();
    for (const status of ['suspended', 'closed']) {
      await database()`update accounts set status = ${status} where id = ${account.id}`;
      const answer = await cases[route]!(account, 'msg_00000000000000000000000000');
      expect(answer).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
    }
  });

  async function everythingOf({ id }: TestAccount) {
    const sql = database();
    return {
      account: await sql`select * from accounts where id = ${id}`,
      messages: await sql`select * from messages where account_id = ${id} order by id`,
      ledger: await sql`select * from ledger_entries where account_id = ${id} order by id`,
      senders: await sql`select * from senders where account_id = ${id} order by name`,
    };
  }
});

describe('keys', () => {
  it('a revoked key ends at once; the others of the account go on', async () => {
    const account = await newAccount();
    const second = await withKey(account, ['read']);
    expect((await second.api.get('/v1/account')).status).toBe(200);
    await database()`update api_keys set revoked_at = now() where id = ${second.keyId}`;
    expect((await second.api.get('/v1/account')).status).toBe(401);
    expect((await account.api.get('/v1/account')).status).toBe(200);
  });

  it('remember when they were used, but are not written at every request', async () => {
    const { keyId, api } = await newAccount();
    const lastUse = async () => {
      const [row] = await database()<
        { last_used_at: Date }[]
      >`select last_used_at from api_keys where id = ${keyId}`;
      return row!.last_used_at.getTime();
    };
    await api.get('/v1/account');
    const first = await lastUse();
    await api.get('/v1/account');
    expect(await lastUse()).toBe(first);
    await database()`update api_keys set last_used_at = now() - interval '6 minutes' where id = ${keyId}`;
    await api.get('/v1/account');
    expect(await lastUse()).toBeGreaterThanOrEqual(first);
  });
});

describe('rate limit', () => {
  let second: ServiceProcess;
  beforeAll(async () => {
    second = await spawnProcess('api', inject('service'));
  });
  afterAll(() => second.stop());

  it('is exact across two processes, and counts failed requests too', async () => {
    const account = await newAccount({ rateLimit: 40 });
    const urls = [base(), second.url];
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) => {
        const api = apiClient(urls[i % 2]!, account.key);
        return i % 3 === 0 ? api.get('/v1/messages?limit=0') : api.get('/v1/account');
      }),
    );
    const limited = answers.filter(({ status }) => status === 429);
    expect(limited).toHaveLength(60);
    for (const { headers, body } of limited) {
      expect(body.error.code).toBe('rate_limited');
      expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60);
      expect(headers.get('ratelimit-policy')).toBe('"account";q=40;w=60');
      expect(headers.get('ratelimit')).toMatch(/^"account";r=0;t=\d+$/);
    }
    const left = answers
      .filter(({ status }) => status !== 429)
      .map(({ headers }) => headers.get('ratelimit')!);
    const remaining = left.map((header) => Number(/r=(\d+)/.exec(header)![1])).sort((a, b) => a - b);
    expect(remaining).toEqual(Array.from({ length: 40 }, (_, i) => i));
  });

  it('starts anew after its 60 s, and is one account’s alone', async () => {
    const account = await newAccount({ rateLimit: 1 });
    expect((await account.api.get('/v1/account')).status).toBe(200);
    expect((await account.api.get('/v1/account')).status).toBe(429);
    expect((await (await newAccount({ rateLimit: 1 })).api.get('/v1/account')).status).toBe(200);
    await database()`
      update rate_windows set started_at = started_at - interval '60 s' where account_id = ${account.id}`;
    expect((await account.api.get('/v1/account')).status).toBe(200);
    expect((await account.api.get('/v1/account')).status).toBe(429);
  });

  it('a refused request has no effect', async () => {
    const account = await newAccount({ rateLimit: 1 });
    await account.api.get('/v1/account');
    expect((await account.api.send({ to: '500100200', text: 'x' })).status).toBe(429);
    const rows = await database()`select from messages where account_id = ${account.id}`;
    expect(rows).toHaveLength(0);
  });

  it('does not count requests without a key in force', async () => {
    const account = await newAccount({ rateLimit: 1 });
    for (let i = 0; i < 3; i += 1) {
      expect(
        (await call(`${base()}/v1/account`, { headers: { authorization: `Bearer ${account.key}x` } })).status,
      ).toBe(401);
    }
    expect((await account.api.get('/v1/account')).status).toBe(200);
  });
});
