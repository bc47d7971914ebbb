import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningApi } from '../../api/server.ts';
import { apiClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { database, newAccount, type TestAccount } from '../support/factories.ts';
import { holdNamedLocks } from '../support/heldLocks.ts';
import { startOwnApi } from '../support/ownApi.ts';
import { refusal } from './refusal.ts';

const contacts = (count: number, value: string) =>
  Array.from({ length: count }, (_, i) => ({
    msisdn: `+4860010${String(i).padStart(4, '0')}`,
    fields: { a: value },
    groups: [`g${i % 9}`],
  }));

async function inWindow({ id }: TestAccount): Promise<number> {
  const [row] = await database()<{ used: number }[]>`select used from rate_windows where account_id = ${id}`;
  return row?.used ?? 0;
}

it('waits with at most one connection per lock, and does nothing after a 504', async () => {
  const [greedy, other] = [await newAccount(), await newAccount()];
  const lock = await holdNamedLocks(`address book of ${greedy.id}`, `templates of ${greedy.id}`);
  const asked = Promise.all([
    ...Array.from({ length: 3 }, () => greedy.api.post('/v1/contacts', contacts(20, 'x'))),
    ...Array.from({ length: 3 }, () => greedy.api.post('/v1/templates', { name: 'x', body: 'y' })),
    greedy.api.post('/v1/groups', { name: 'x' }),
  ]);
  await eventually(
    () => inWindow(greedy),
    (used) => used === 7,
  );
  for (let i = 0; i < 10; i += 1) {
    expect(await lock.waiting()).toBeLessThanOrEqual(2);
    expect((await other.api.get('/v1/account')).status).toBe(200);
  }
  const answers = await asked;
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([504]));
  await lock.release();
  // Who had waited has left the line: the next one has its turn at once, and finds nothing of theirs.
  expect((await greedy.api.post('/v1/templates', { name: 'mine', body: 'y' })).status).toBe(201);
  expect((await greedy.api.get('/v1/templates')).body.data).toHaveLength(1);
  expect((await greedy.api.get('/v1/contacts')).body.data).toEqual([]);
  expect((await greedy.api.get('/v1/groups')).body.data).toEqual([]);
});

describe('requests under way at once', () => {
  // Two of an account, one of them heavy.
  let narrow: RunningApi;
  beforeAll(async () => {
    narrow = await startOwnApi({ config: { REQUESTS_AT_ONCE: 2, HEAVY_REQUESTS_AT_ONCE: 1 } });
  });
  afterAll(() => narrow.stop());
  const at = ({ key }: TestAccount) => apiClient(narrow.url, key);

  it('beyond those that it may have they are answered 429 with Retry-After; afterwards all is as before', async () => {
    const [account, other] = [await newAccount(), await newAccount()];
    const lock = await holdNamedLocks(`templates of ${account.id}`);
    const asked = ['a', 'b'].map((name) => at(account).post('/v1/templates', { name, body: 'y' }));
    await eventually(
      () => inWindow(account),
      (used) => used === 2,
    );
    const refused = await at(account).get('/v1/account');
    expect(refused).toMatchObject(refusal(429));
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await at(other).get('/v1/account')).status).toBe(200);
    await lock.release();
    // 504 where the machine stood still for so long.
    for (const { status } of await Promise.all(asked)) expect([201, 504]).toContain(status);
    expect((await at(account).get('/v1/account')).status).toBe(200);
  });

  it('heavy ones beyond those that it may have are, too', async () => {
    const account = await newAccount();
    const lock = await holdNamedLocks(`address book of ${account.id}`);
    const large = contacts(500, 'x'.repeat(190));
    const asked = [1, 2].map(() => at(account).post('/v1/contacts', large));
    expect((await Promise.race(asked)).status).toBe(429);
    await lock.release();
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses.filter((status) => status !== 429)).toHaveLength(1);
  });

  it('of a caller who has gone make room, those behind another one on its connection too', async () => {
    const account = await newAccount();
    const lock = await holdNamedLocks(`templates of ${account.id}`);
    const { hostname, port } = new URL(narrow.url);
    const body = '{"name":"gone","body":"y"}';
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    const head = `POST /v1/templates HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${account.key}`;
    const type = `Content-Type: application/json\r\nContent-Length: ${body.length}`;
    socket.write(`${head}\r\n${type}\r\n\r\n${body}`.repeat(2));
    await eventually(
      () => inWindow(account),
      (used) => used === 2,
    );
    socket.destroy();
    await bothPlacesFree(account);
    await lock.release();
  });

  const bothPlacesFree = (account: TestAccount) =>
    eventually(
      () => Promise.all([1, 2].map(async () => (await at(account).get('/v1/account')).status)),
      (statuses) => statuses.every((status) => status === 200),
    );

  it('what an account may ask in a minute may come at once', async () => {
    const account = await newAccount({ rateLimit: 110 });
    const answers = await Promise.all(Array.from({ length: 115 }, () => account.api.get('/v1/account')));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 429));
    // The minute is used up; it is not that so many came at once.
    for (const { body } of refused) expect(body.error.message).toContain('na minutę');
  });
});

it.each(['a contact', 'a large import'])('the rate limit counts %s as one request', async (what) => {
  const account = await newAccount({ rateLimit: 10 });
  const body = JSON.stringify(contacts(1, what === 'a contact' ? 'x' : 'y'.repeat(97 * 1024)));
  expect((await account.api.post('/v1/contacts', body)).headers.get('ratelimit')).toMatch(/r=9;/);
  expect(await inWindow(account)).toBe(1);
});
