import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase, type Sql, transaction } from '../../db/connection.ts';
import { startDatabase } from '../support/database.ts';
import { until } from '../support/eventually.ts';

const CONNECTIONS = 5;
// Which of both is the kernel's choice: whether anything was under way to a server that had gone.
const LOST = { code: expect.stringMatching(/^(CONNECTION_CLOSED|ECONNRESET)$/) as unknown };

let sql: Database;
/** With one connection: what follows a lost one is on the same. */
let single: Database;
let url: string;
let stop: () => Promise<void>;
beforeAll(async () => {
  // Who else may end connections, and lock a table of the server's own.
  const database = await startDatabase(() => Promise.resolve());
  url = database.superuserUrl;
  sql = openDatabase(url, CONNECTIONS);
  single = openDatabase(url, 1);
  stop = async () => {
    await Promise.all([sql.end({ timeout: 1 }), single.end({ timeout: 1 })]);
    await database.stop();
  };
});
afterAll(() => stop());

// The driver sends as many as a hundred statements on a connection before the first of them is answered; at the border,
// which is not to be known here, transactions have been lost.
test('a transaction behind many statements is one of its own, and closed in the end', async () => {
  await sql`create table written (by int)`;
  await Promise.all(Array.from({ length: CONNECTIONS }, () => sql`select pg_sleep(0.1)`));
  const depths = [96, 97, 98, 99, 100, 101];
  for (const depth of depths) {
    const sleeping = Array.from({ length: CONNECTIONS }, () => sql`select pg_sleep(0.1)`.execute());
    const waiting = Array.from({ length: depth * CONNECTIONS }, (_, i) => sql`select ${i}::int`.execute());
    const transactions = Array.from({ length: CONNECTIONS }, () =>
      transaction(sql, (tx) => tx`insert into written (by) values (${depth})`),
    );
    await Promise.all([...sleeping, ...waiting, ...transactions]);
  }
  const left =
    await sql`select pid from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`;
  expect([...left]).toEqual([]);
  const [row] = await sql<{ n: number }[]>`select count(*)::int as n from written`;
  expect(row!.n).toBe(depths.length * CONNECTIONS);
});

const backendOf = async (database: Sql): Promise<number> => {
  const [row] = await database<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return row!.pid;
};
/** Until the server is at the sleep in a connection's statement. */
const untilAsleep = (pid: number) =>
  until('it sleeps', async () => {
    const { count } = await sql`select from pg_stat_activity where pid = ${pid} and wait_event = 'PgSleep'`;
    return count > 0;
  });
const endBackend = (pid: number) => sql`select pg_terminate_backend(${pid}, 5000)`;

test('what follows a connection that the server ended in the middle of an answer is answered for itself', async () => {
  for (const rows of [1, 20_000]) {
    const pid = await backendOf(single);
    const cut = single`select pg_sleep(case when n = ${rows} then 300 else 0 end) from generate_series(1, 20000) n`;
    const ended = expect(cut).rejects.toMatchObject(LOST);
    await untilAsleep(pid);
    await endBackend(pid);
    await ended;
    expect([...(await single`select array[1, 2] as two`)]).toEqual([{ two: [1, 2] }]);
  }
});

test('what follows a statement that fails in the middle of its rows has its own rows, and all of them', async () => {
  const broken = () => single`select i, 1 / (4 - i) as one from generate_series(1, 10) i`;
  const numbers = () => single<{ n: number }[]>`select n from generate_series(1, 5) n`;
  const expected = [1, 2, 3, 4, 5].map((n) => ({ n }));
  await expect(broken()).rejects.toMatchObject({ code: '22012' });
  expect([...(await numbers())]).toEqual(expected);

  const atOnce = await Promise.allSettled([broken(), numbers(), broken(), numbers()]);
  expect(atOnce.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected', 'fulfilled']);
  for (const answer of atOnce) if (answer.status === 'fulfilled') expect([...answer.value]).toEqual(expected);

  const pid = await backendOf(single);
  const many = single`select repeat('x', 1000) from generate_series(1, 1000000)`;
  many.catch(() => undefined);
  // A cancel that comes before the statement is lost.
  const rowsCome = async () =>
    (
      await sql`select from pg_stat_activity where pid = ${pid} and state = 'active' and query like '%repeat%'`
    ).count > 0;
  await until('it is under way', rowsCome);
  many.cancel();
  await expect(many).rejects.toMatchObject({ code: '57014' });
  expect([...(await numbers())]).toEqual(expected);
});

test('a transaction whose connection is lost does nothing more, also where another has it', async () => {
  await sql`create table kept (by text)`;
  let goOn = (): void => undefined;
  const gone = new Promise<void>((resolve) => (goOn = resolve));
  const late: PromiseSettledResult<unknown>[] = [];
  let pid = 0;
  const lost = single.begin(async (tx) => {
    await tx`insert into kept (by) values ('lost')`;
    pid = await backendOf(tx);
    await gone;
    late.push(...(await Promise.allSettled([tx`insert into kept (by) values ('lost, later')`, tx`commit`])));
  });
  const ended = expect(lost).rejects.toMatchObject(LOST);
  await until('its transaction is under way', () => Promise.resolve(pid !== 0));
  await endBackend(pid);
  await ended;
  await single.begin(async (tx) => {
    await tx`insert into kept (by) values ('the next')`;
    goOn();
    await until('the lost one has tried', () => Promise.resolve(late.length > 0));
    await tx`insert into kept (by) values ('the next, later')`;
  });
  expect(late).toMatchObject([{ reason: LOST }, { reason: LOST }]);
  expect((await sql`select by from kept`).map(({ by }) => by as string)).toEqual([
    'the next',
    'the next, later',
  ]);
});

test('what a transaction has still to send is refused when its connection is lost', async () => {
  let all: Promise<PromiseSettledResult<unknown>[]> | undefined;
  const lost = single.begin(async (tx) => {
    const pid = await backendOf(tx);
    // More than are sent before the first is answered: the last ones wait in the process.
    all = Promise.allSettled(Array.from({ length: 300 }, () => tx`select pg_sleep(300)`));
    await endBackend(pid);
    await all;
  });
  await expect(lost).rejects.toMatchObject(LOST);
  expect((await all!).every(({ status }) => status === 'rejected')).toBe(true);
});

test('a pool whose server has gone in the middle of a statement can be closed', async () => {
  const closing = openDatabase(url, 1);
  const pid = await backendOf(closing);
  const cut = expect(closing`select pg_sleep(300)`).rejects.toMatchObject(LOST);
  await untilAsleep(pid);
  await endBackend(pid);
  await cut;
  await closing.end();
});

test('the pool tells how its connections are used', async () => {
  const pid = await backendOf(single);
  const held = single`select pg_sleep(300)`.execute();
  const cancelled = expect(held).rejects.toMatchObject({ code: '57014' });
  await until('it is under way', () => Promise.resolve(single.poolState().busy === 1));
  expect(single.poolState()).toEqual({ max: 1, idle: 0, busy: 1, connecting: 0, waiting: 0 });
  await untilAsleep(pid);
  held.cancel();
  await cancelled;
  await until('it is answered', () => Promise.resolve(single.poolState().idle === 1));
});

// The driver asks each new connection for its array types before anything else.
test('a connection whose first question is refused serves all the same', async () => {
  const hurried = openDatabase(url, 1, undefined, { statementMs: 1 });
  await sql`create table slow (n int)`;
  try {
    for (let round = 1; round <= 5; round++) {
      await sql.begin(async (tx) => {
        await tx`lock table pg_catalog.pg_type in access exclusive mode`;
        await expect(hurried`select 1`).rejects.toMatchObject({ code: '57014' });
      });
    }
  } finally {
    await hurried.end({ timeout: 1 });
  }
});

// Nothing here reserves a connection; it is the way to write to one that is closed.
test('a reserved connection whose server has gone fails what it is given', async () => {
  const pool = openDatabase(url, 1);
  const reserved = await pool.reserve();
  await endBackend(await backendOf(reserved));
  for (let round = 1; round <= 3; round++) await expect(reserved`select 1`).rejects.toMatchObject(LOST);
  await pool.end({ timeout: 1 });
});
