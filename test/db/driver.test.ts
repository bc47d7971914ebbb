import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../db/connection.ts';
import { transaction } from '../../db/transaction.ts';
import { startDatabase } from '../support/database.ts';
import { until } from '../workflows/pipeline.ts';

const CONNECTIONS = 5;

let sql: Database;
let stop: () => Promise<void>;
beforeAll(async () => {
  // Who else may see what the server's own processes are.
  const database = await startDatabase(() => Promise.resolve());
  sql = openDatabase(database.superuserUrl, CONNECTIONS);
  stop = async () => {
    await sql.end({ timeout: 1 });
    await database.stop();
  };
}, 180_000);
afterAll(() => stop());

/**
 * A transaction whose server process is killed in its middle, as `kill -9` or the kernel's memory killer would.
 * @param ended what the server ends by this, by its checkpointer's process id: each start after a crash has one of its own
 */
async function cutTransaction(ended: Set<number>): Promise<void> {
  await transaction(sql, async (tx) => {
    const [row] = await tx<{ pid: number; checkpointer: number }[]>`
      select pg_backend_pid() as pid, pid as checkpointer from pg_stat_activity where backend_type = 'checkpointer'`;
    process.kill(row!.pid, 'SIGKILL');
    ended.add(row!.checkpointer);
    await delay(50);
    await tx`select 1`;
  });
}

/** The server ends all its processes when one was killed, and is back in a moment; until it notices, it answers as before. */
const untilBack = (ended: Set<number>) =>
  until('the server is back', () =>
    sql<{ pid: number }[]>`select pid from pg_stat_activity where backend_type = 'checkpointer'`.then(
      ([checkpointer]) => checkpointer !== undefined && !ended.has(checkpointer.pid),
      () => false,
    ),
  );

// An exception that nobody can catch would end this test run as it would end the service.
test('connections cut in the middle of transactions fail those, and all of them serve again', async () => {
  const ended = new Set<number>();
  for (let round = 1; round <= 5; round++) {
    const results = await Promise.allSettled(
      Array.from({ length: CONNECTIONS }, () => cutTransaction(ended)),
    );
    expect(results.every(({ status }) => status === 'rejected')).toBe(true);
    expect(ended.size).toBeGreaterThanOrEqual(round);
    await untilBack(ended);
  }
  const held = Array.from({ length: CONNECTIONS }, () => transaction(sql, (tx) => tx`select pg_sleep(0.2)`));
  await Promise.all(held);
}, 120_000);

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
  const left = await sql`select pid from pg_stat_activity where state like 'idle in transaction%'`;
  expect([...left]).toEqual([]);
  const [row] = await sql<{ n: number }[]>`select count(*)::int as n from written`;
  expect(row!.n).toBe(depths.length * CONNECTIONS);
}, 120_000);
