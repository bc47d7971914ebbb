import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, inject, it } from 'vitest';
import { openDatabase } from '../../db/connection.ts';
import type { ApiAnswer } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { database, newAccount, serviceProbes, type TestAccount } from '../support/factories.ts';
import { undisturbed } from '../support/undisturbed.ts';

const number = (i: number) => `+4860010${String(i).padStart(4, '0')}`;
const contacts = (count: number, value: string) =>
  Array.from({ length: count }, (_, i) => ({
    msisdn: number(i),
    fields: { a: value },
    groups: [`g${i % 9}`],
  }));

/** How long each of an account's requests took, asked one after the other until the work is done. */
async function timesDuring(work: Promise<unknown>, ask: () => Promise<ApiAnswer>): Promise<number[]> {
  const times: number[] = [];
  let done = false;
  const ended = work.finally(() => (done = true));
  while (!done) {
    const begin = performance.now();
    expect((await ask()).status).toBeLessThan(300);
    times.push(performance.now() - begin);
    await delay(50);
  }
  await ended;
  return times;
}

/** Statements that wait for a turn with a connection in hand. */
async function waitingForTurns(): Promise<number> {
  const rows = await database()`
    select from pg_stat_activity where wait_event_type = 'Lock' and wait_event = 'advisory'`;
  return rows.count;
}

/** Holds what an account's changes take turns by, as another process would that is at it for long. */
async function holdLocks(...names: string[]): Promise<{ release: () => Promise<void> }> {
  const holder = openDatabase(inject('service').databaseUrl, 1);
  let letGo: () => void = () => undefined;
  const until = new Promise<void>((resolve) => (letGo = resolve));
  let held: () => void = () => undefined;
  const locked = new Promise<void>((resolve) => (held = resolve));
  const holding = holder.begin(async (tx) => {
    for (const name of names) await tx`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`;
    held();
    await until;
  });
  await Promise.race([locked, holding]);
  return {
    async release() {
      letGo();
      await holding;
      await holder.end();
    },
  };
}

describe('an account that keeps much under way', () => {
  it(
    'does not keep another one from its account and its sends',
    undisturbed(async () => {
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
      const times = await timesDuring(work, () => {
        turn += 1;
        return turn % 4 === 0 ? other.api.send({ to: '500100200', text: 'x' }) : other.api.get('/v1/account');
      });
      const statuses = new Set((await work).map(({ status }) => status));
      for (const status of statuses) expect([200, 201, 429, 504]).toContain(status);
      // It was ten seconds and more, and 504 for the sends.
      expect(times.length).toBeGreaterThan(0);
      expect(Math.max(...times)).toBeLessThan(5_000);
    }, serviceProbes),
    120_000,
  );

  it('waits for its turn without a connection, and nothing is done once it was told 504', async () => {
    const [greedy, other] = [await newAccount(), await newAccount()];
    const lock = await holdLocks(`address book of ${greedy.id}`, `templates of ${greedy.id}`);
    const asked = Promise.all([
      ...Array.from({ length: 14 }, () => greedy.api.post('/v1/contacts', contacts(20, 'x'))),
      ...Array.from({ length: 14 }, () => greedy.api.post('/v1/templates', { name: 'x', body: 'y' })),
      greedy.api.post('/v1/groups', { name: 'x' }),
    ]);
    await eventually(
      () => inWindow(greedy),
      (used) => used === 29,
    );
    for (let i = 0; i < 10; i += 1) {
      expect(await waitingForTurns()).toBe(0);
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
  }, 180_000);

  it('leaves the line when its caller goes', async () => {
    const greedy = await newAccount();
    const lock = await holdLocks(`templates of ${greedy.id}`);
    const leaving = new AbortController();
    const asking = fetch(`${inject('service').apiUrl}/v1/templates`, {
      method: 'POST',
      body: '{"name":"gone","body":"y"}',
      headers: { authorization: `Bearer ${greedy.key}`, 'content-type': 'application/json' },
      signal: leaving.signal,
    });
    await eventually(
      async () => await inWindow(greedy),
      (used) => used === 1,
    );
    leaving.abort();
    await expect(asking).rejects.toMatchObject({ name: 'AbortError' });
    // Longer than between two tries.
    await delay(100);
    await lock.release();
    expect((await greedy.api.post('/v1/templates', { name: 'stays', body: 'y' })).status).toBe(201);
    expect((await greedy.api.get('/v1/templates')).body.data.map(({ name }) => name)).toEqual(['stays']);
  });
});

async function inWindow({ id }: TestAccount): Promise<number> {
  const [row] = await database()<{ used: number }[]>`select used from rate_windows where account_id = ${id}`;
  return row?.used ?? 0;
}

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
  }, 180_000);

  it('what an account may ask in a minute may come at once', async () => {
    const account = await newAccount({ rateLimit: 120 });
    const answers = await Promise.all(Array.from({ length: 130 }, () => account.api.get('/v1/account')));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 429));
    // The minute is used up; it is not that so many came at once.
    for (const { body } of refused) expect(body.error.message).toContain('na minutę');
  });

  it('those that stand behind another one on a connection end with it', async () => {
    const account = await newAccount({ rateLimit: 100_000 });
    const lock = await holdLocks(`templates of ${account.id}`);
    const { hostname, port } = new URL(inject('service').apiUrl);
    const body = '{"name":"gone","body":"y"}';
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    const head = `POST /v1/templates HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${account.key}`;
    const type = `Content-Type: application/json\r\nContent-Length: ${body.length}`;
    socket.write(`${head}\r\n${type}\r\n\r\n${body}`.repeat(100));
    await eventually(
      () => inWindow(account),
      (used) => used === 100,
    );
    socket.destroy();
    const tenAtOnce = () =>
      Promise.all(Array.from({ length: 10 }, async () => (await account.api.get('/v1/account')).status));
    await eventually(tenAtOnce, (statuses) => statuses.every((status) => status === 200));
    await lock.release();
    expect((await account.api.get('/v1/templates')).body.data).toEqual([]);
  });

  it('of large bodies four are taken, announced or in chunks', async () => {
    const account = await newAccount();
    const large = contacts(500, 'x'.repeat(190));
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => account.api.post('/v1/contacts', large)),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201).length).toBeGreaterThanOrEqual(4);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
    expect((await account.api.post('/v1/contacts', large)).status).toBe(201);
  }, 180_000);

  it('of small bodies that make long texts for many, and of long lists of templates, four are taken too', async () => {
    const account = await newAccount({ rateLimit: 10_000, balance: 0 });
    const to = Array.from({ length: 500 }, (_, i) => number(i));
    const smil = `<smil><body><text>{{imie}}${'x'.repeat(9_900)}</text></body></smil>`;
    const estimate = () => account.api.post('/v1/mms/estimate', { to, subject: 'x', smil });
    const short = () => account.api.post('/v1/messages/estimate', { to, text: '{{imie}} x' });
    await database()`
      insert into templates (id, account_id, name, type, body)
      select 'tpl_' || lpad((9000000 + i)::text, 26, '0'), ${account.id}, 'x', 'mms', repeat('x', 100000) from generate_series(1, 11) i`;
    const list = () => account.api.get('/v1/templates');
    for (const ask of [estimate, list]) {
      const answers = await Promise.all(Array.from({ length: 30 }, ask));
      const taken = answers.filter(({ status }) => status === 200).length;
      expect(answers.filter(({ status }) => status === 429).length).toBe(30 - taken);
      expect(taken).toBeGreaterThanOrEqual(4);
      expect(taken).toBeLessThan(30);
    }
    const light = await Promise.all(Array.from({ length: 30 }, short));
    expect(new Set(light.map(({ status }) => status))).toEqual(new Set([200]));
  }, 180_000);

  it('of long pages, and of long answers that are given again, four are held for clients that do not read them', async () => {
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
  }, 180_000);
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

describe('the rate limit', () => {
  const body = (kilobytes: number) =>
    JSON.stringify([{ msisdn: '500100200', x: 'y'.repeat(kilobytes * 1024) }]);

  it('counts each further 64 kB of a body as one more request', async () => {
    const [account, other] = [await newAccount({ rateLimit: 10 }), await newAccount({ rateLimit: 10 })];
    expect((await other.api.get('/v1/account')).status).toBe(200);
    expect((await account.api.post('/v1/contacts', body(10))).status).toBe(201);
    expect(await inWindow(account)).toBe(1);
    const { headers } = await account.api.post('/v1/contacts', body(97));
    expect(await inWindow(account)).toBe(3);
    expect(await inWindow(other)).toBe(1);
    expect(headers.get('ratelimit')).toMatch(/r=7;/);
  });

  it('refuses what does not fit before it is read, and counts that once', async () => {
    const account = await newAccount({ rateLimit: 4 });
    const large = JSON.stringify(Array.from({ length: 4 }, () => ({ x: 'y'.repeat(96 * 1024) })));
    expect((await account.api.get('/v1/account')).status).toBe(200);
    const refused = await account.api.post('/v1/contacts', large);
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } });
    expect(refused.headers.get('ratelimit')).toMatch(/r=2;/);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await inWindow(account)).toBe(2);
    expect((await account.api.get('/v1/account')).status).toBe(200);
  });

  it('never counts a body as more than a whole window', async () => {
    const account = await newAccount({ rateLimit: 3 });
    const large = JSON.stringify(Array.from({ length: 9 }, () => ({ x: 'y'.repeat(96 * 1024) })));
    expect((await account.api.post('/v1/contacts', large)).status).toBe(201);
    expect((await account.api.get('/v1/account')).status).toBe(429);
  });

  it('an array of 500 numbers counts once', async () => {
    const account = await newAccount({ balance: 1_000_000 });
    const to = Array.from({ length: 500 }, (_, i) => number(i));
    expect((await account.api.send({ to, text: 'a'.repeat(3_000) })).status).toBe(201);
    expect(await inWindow(account)).toBe(1);
  });
});
