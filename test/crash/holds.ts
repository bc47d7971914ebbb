import { setTimeout as delay } from 'node:timers/promises';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { Database } from '../../db/connection.ts';
import { eventually } from '../support/eventually.ts';

/** Rows that a test keeps locked in a transaction of its own, so that whoever needs them waits at just that step. */
export interface RowLock {
  /** Resolves once somebody waits for the rows. */
  untilWaitedFor(): Promise<void>;
  /** Lets them go; harmless when they are let go already, or the server has died meanwhile. */
  release(): Promise<void>;
}

/** What a test locks: the account's money, what is reserved for a message, a whole message, a message against its submission alone, or an event. */
export type Lockable = 'account' | 'reservation' | 'message' | 'submission' | 'event';

const PATIENCE_MS = 30_000;
const RELEASE_MS = 2_000;

/** Locks the row with this id, by a connection of its own. */
export async function lockRow(sql: Database, what: Lockable, id: string): Promise<RowLock> {
  const own = await sql.reserve();
  let released = false;
  await own`begin`;
  // What moves money waits; what only names the account passes.
  if (what === 'account') await own`select from accounts where id = ${id} for no key update`;
  else if (what === 'message') await own`select from messages where id = ${id} for update`;
  // A change of status passes this lock; what is about to submit does not.
  else if (what === 'submission') await own`select from messages where id = ${id} for key share`;
  else if (what === 'reservation') await own`select from reservations where subject_id = ${id} for update`;
  else await own`select from webhook_events where id = ${id} for update`;
  const [backend] = await own<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return {
    async untilWaitedFor() {
      await eventually(
        () => sql`select from pg_stat_activity where ${backend!.pid} = any(pg_blocking_pids(pid))`,
        (waiting) => waiting.length > 0,
        PATIENCE_MS,
      );
    },
    async release() {
      if (released) return;
      released = true;
      // Where the server was killed, the lock has died with it, and nobody answers on this connection.
      await Promise.race([own`rollback`.then(() => own.release()).catch(() => undefined), delay(RELEASE_MS)]);
    },
  };
}

/** Waits until a query's first row is as wanted. */
export async function untilRow<T>(
  query: () => Promise<readonly T[]>,
  holds: (row: T) => boolean,
): Promise<T> {
  const rows = await eventually(query, ([row]) => row !== undefined && holds(row), PATIENCE_MS);
  return rows[0]!;
}

/** Whether a workflow has been started. */
export async function isStarted(client: Client, workflowId: string): Promise<boolean> {
  try {
    await client.workflow.getHandle(workflowId).describe();
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
