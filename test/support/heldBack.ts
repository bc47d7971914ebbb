import { onTestFinished } from 'vitest';
import type { Database } from '../../db/connection.ts';
import { eventually } from './eventually.ts';
import { database } from './factories.ts';

/**
 * Keeps whatever writes for an account waiting: its estimate goes through, its acceptance does not.
 * @param work is given what waits until somebody has come so far, and tells which processes of the server wait for them
 */
export async function heldBack(
  account: { id: string },
  work: (waiting: () => Promise<number[]>) => Promise<void>,
): Promise<void> {
  const sql = database();
  await sql.begin(async (tx) => {
    await tx`select from accounts where id = ${account.id} for update`;
    const [self] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
    await work(() =>
      eventually(
        () => waitingFor(sql, self!.pid),
        (pids) => pids.length > 0,
      ),
    );
  });
}

/** A lock that a test has, and may let go of. */
interface HeldLock {
  somebodyWaits(): Promise<unknown>;
  release(): Promise<unknown>;
}

/** Has something locked until it is released, or the test is over. @param statement that locks it */
export async function holdLock(statement: string): Promise<HeldLock> {
  const sql = database();
  const connection = await sql.reserve();
  await connection.unsafe(`begin; ${statement}`);
  const [self] = await connection<{ pid: number }[]>`select pg_backend_pid() as pid`;
  let ending: Promise<unknown> | undefined;
  const release = () => (ending ??= connection`commit`.finally(() => connection.release()));
  onTestFinished(async () => void (await release()));
  return {
    somebodyWaits: () =>
      eventually(
        () => waitingFor(sql, self!.pid),
        (pids) => pids.length > 0,
      ),
    release,
  };
}

/** Processes of the server that wait for a lock of this one. */
async function waitingFor(sql: Database, pid: number): Promise<number[]> {
  const rows = await sql<{ pid: number }[]>`
    select pid from pg_stat_activity where ${pid} = any(pg_blocking_pids(pid))`;
  return rows.map((row) => row.pid);
}
