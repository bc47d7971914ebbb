import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startPostgres } from '../../dev/postgres.ts';
import { type Database, openDatabase, transaction } from '../../db/connection.ts';
import { until } from '../support/eventually.ts';

const CONNECTIONS = 5;

/** Of a server that may be killed: no other test's. Whoever may see what the server's own processes are. */
async function ownServer(): Promise<Database> {
  const dataDir = await mkdtemp(join(tmpdir(), 'goniec-db-'));
  const server = await startPostgres(dataDir);
  const sql = openDatabase(server.superuserUrl, CONNECTIONS);
  onTestFinished(async () => {
    await sql.end({ timeout: 1 });
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return sql;
}

/**
 * A transaction whose server process is killed in its middle, as `kill -9` or the kernel's memory killer would.
 * @param ended what the server ends by this, by its checkpointer's process id: each start after a crash has one of its own
 */
async function cutTransaction(sql: Database, ended: Set<number>): Promise<void> {
  await transaction(sql, async (tx) => {
    const [row] = await tx<{ pid: number; checkpointer: number }[]>`
      select pg_backend_pid() as pid, pid as checkpointer from pg_stat_activity where backend_type = 'checkpointer'`;
    process.kill(row!.pid, 'SIGKILL');
    ended.add(row!.checkpointer);
    // It is answered until the server notices.
    for (;;) await tx`select 1`;
  });
}

/** The server ends all its processes when one was killed, and is back in a moment; until it notices, it answers as before. */
const untilBack = (sql: Database, ended: Set<number>) =>
  until('the server is back', () =>
    sql<{ pid: number }[]>`select pid from pg_stat_activity where backend_type = 'checkpointer'`.then(
      ([checkpointer]) => checkpointer !== undefined && !ended.has(checkpointer.pid),
      () => false,
    ),
  );

// An exception that nobody can catch would end this test run as it would end the service.
test('connections cut in the middle of transactions fail those, and all of them serve again', async () => {
  const sql = await ownServer();
  const ended = new Set<number>();
  for (let round = 1; round <= 5; round++) {
    const results = await Promise.allSettled(
      Array.from({ length: CONNECTIONS }, () => cutTransaction(sql, ended)),
    );
    expect(results.every(({ status }) => status === 'rejected')).toBe(true);
    expect(ended.size).toBeGreaterThanOrEqual(round);
    await untilBack(sql, ended);
  }
  const held = Array.from({ length: CONNECTIONS }, () => transaction(sql, (tx) => tx`select pg_sleep(0.2)`));
  await Promise.all(held);
}, 120_000);
