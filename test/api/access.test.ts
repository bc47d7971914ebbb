import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { endpoints } from '../../api/endpoints.ts';
import type { Scope } from '../../domain/actor.ts';
import type { Endpoint } from '../../api/http/endpoint.ts';
import type { RunningApi } from '../../api/server.ts';
import { apiClient, call } from '../support/client.ts';
import { decided } from '../support/decided.ts';
import { database, newAccount, newKey, type TestAccount } from '../support/factories.ts';
import { startOwnApi } from '../support/ownApi.ts';
import { accessCases } from './access/cases.ts';
import { everythingOf } from './access/everything.ts';
import { OPEN, SCOPES } from './access/scopes.ts';
import { refusal } from './refusal.ts';

const base = () => inject('service').apiUrl;
const name = ({ method, path }: Endpoint) => `${method} ${path}`;
const guarded = endpoints.filter(({ scope }) => scope !== null);
const resourceOf = (route: string) => accessCases.find(({ cases }) => route in cases)!;
const caseOf = (route: string) => resourceOf(route).cases[route]!;

async function withKey(account: TestAccount, scopes: Scope[]): Promise<TestAccount> {
  const { key, keyId } = await newKey(account.id, 'live', scopes);
  return { ...account, key, keyId, api: apiClient(base(), key) };
}

describe('every endpoint', () => {
  it('has a case, and only one', () => {
    const routes = accessCases.flatMap(({ cases }) => Object.keys(cases));
    expect(routes.sort()).toEqual(guarded.map(name).sort());
  });

  it('has its scope in the list of them, or needs no key', () => {
    expect(Object.keys(SCOPES).concat(OPEN).sort()).toEqual(endpoints.map(name).sort());
  });

  it.each(OPEN)('%s needs no key', async (route) => {
    const [method, path] = route.split(' ');
    expect((await call(`${base()}${path}`, { method: method! })).status).toBe(200);
  });

  it.each(Object.entries(SCOPES))('%s needs the scope %s', async (route, needed) => {
    const account = await newAccount();
    const own = await resourceOf(route).prepare(account);
    const others = (['send', 'read', 'manage'] as const).filter((scope) => scope !== needed);
    const refused = await caseOf(route).call(await withKey(account, others), own);
    expect(refused).toMatchObject(refusal(403));
    expect(refused.body.error.message).toContain(needed);
    const scoped = await withKey(account, [needed]);
    const allowed = await decided(() => caseOf(route).call(scoped, own));
    expect(allowed.status).toBeLessThan(300);
  });

  it.each(guarded.map(name))('%s shows and changes nothing of another account', async (route) => {
    const victim = await newAccount({ senders: ['OFIARA'], defaultSender: 'OFIARA', balance: 777 });
    const resource = resourceOf(route);
    const things = await resource.prepare(victim);
    const before = await everythingOf(victim, resource.tables);
    const stranger = await newAccount();
    const answer = await decided(() => caseOf(route).call(stranger, things));
    const expected = caseOf(route).stranger ?? (route.includes('/:') ? 404 : null);
    if (expected === null) expect(answer.status).toBeLessThan(300);
    else expect(answer.status).toBe(expected);
    // A list is asked for as it is too: a cursor or a filter may leave out what the account does not.
    const [method, path] = route.split(' ') as [string, string];
    const answers =
      method === 'GET' && !path.includes(':') ? [answer, await stranger.api.get(path)] : [answer];
    for (const { status, text } of answers) {
      expect(text).not.toMatch(/tajne|OFIARA|500100777/);
      for (const secret of [victim.id, ...Object.values(things)]) {
        if (status < 300) expect(text).not.toContain(secret);
      }
    }
    expect(await everythingOf(victim, resource.tables)).toEqual(before);
  });

  it.each(guarded.map(name))('%s is closed to suspended and closed accounts', async (route) => {
    const account = await newAccount();
    const own = await resourceOf(route).prepare(account);
    for (const status of ['suspended', 'closed']) {
      await database()`update accounts set status = ${status} where id = ${account.id}`;
      const answer = await caseOf(route).call(account, own);
      expect(answer).toMatchObject(refusal(403));
      expect(answer.body.error.message).toMatch(/^Konto jest (zawieszone|zamknięte)\.$/);
    }
  });
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
});

describe('rate limit', () => {
  let second: RunningApi;
  beforeAll(async () => {
    second = await startOwnApi();
  });
  afterAll(() => second.stop());

  /** Seconds until the window of an account ends, by the clock that it is kept by. */
  async function secondsLeft({ id }: TestAccount): Promise<number> {
    const [row] = await database()<{ left: number }[]>`
      select extract(epoch from started_at + interval '60 s' - now())::float8 as left
        from rate_windows where account_id = ${id}`;
    return row!.left;
  }

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
    const left = await secondsLeft(account);
    for (const { headers, body } of limited) {
      expect(body.error.code).toBe('rate_limited');
      const wait = headers.get('retry-after');
      expect(Number(wait)).toBeGreaterThanOrEqual(left);
      expect(Number(wait)).toBeLessThanOrEqual(60);
      expect(headers.get('ratelimit-policy')).toBe('"account";q=40;w=60');
      expect(headers.get('ratelimit')).toBe(`"account";r=0;t=${wait}`);
    }
    const states = answers
      .filter(({ status }) => status !== 429)
      .map(({ headers }) => headers.get('ratelimit')!);
    const remaining = states.map((header) => Number(/r=(\d+)/.exec(header)![1])).sort((a, b) => a - b);
    expect(remaining).toEqual(Array.from({ length: 40 }, (_, i) => i));
  });

  it('starts anew after its 60 s, and is one account’s alone', async () => {
    const account = await newAccount({ rateLimit: 1 });
    expect((await account.api.get('/v1/account')).status).toBe(200);
    expect((await account.api.get('/v1/account')).status).toBe(429);
    expect((await (await newAccount({ rateLimit: 1 })).api.get('/v1/account')).status).toBe(200);
    const startedBefore = (time: string) => database()`
      update rate_windows set started_at = now() - ${time}::interval where account_id = ${account.id}`;
    await startedBefore('30 s');
    const refused = await account.api.get('/v1/account');
    expect(refused.status).toBe(429);
    const wait = Number(refused.headers.get('retry-after'));
    expect(wait).toBeGreaterThanOrEqual(await secondsLeft(account));
    expect(wait).toBeLessThanOrEqual(30);
    await startedBefore('60 s');
    expect((await account.api.get('/v1/account')).status).toBe(200);
    expect((await account.api.get('/v1/account')).status).toBe(429);
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
