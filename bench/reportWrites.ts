import type { Database, Sql } from '../db/connection.ts';
import { newId } from '../db/ids.ts';
import { cpuMs } from './cpu.ts';
import { REPORTED } from './reportData.ts';

/** What something costs the database in writes, each time. */
export interface WriteCost {
  ms: number;
  /** Of the one server process. */
  cpuMs: number;
  walBytes: number;
}

const STEPS = [
  { status: 'queued', submission: 'submitting', delivered: false },
  { status: 'sent', submission: 'answered', delivered: false },
  { status: 'delivered', submission: 'answered', delivered: true },
];

/**
 * Writes messages and takes each through the changes it sees until it is delivered, one statement each, without
 * waiting for the disk.
 * @param count messages
 * @returns the cost of one message
 */
export async function liveThrough(sql: Database, count: number): Promise<WriteCost> {
  const ids = Array.from({ length: count }, () => newId('msg'));
  return await costOfEach(sql, ids, async (connection, id) => {
    await connection`
      insert into messages (id, account_id, request_id, status, accepted_as, recipient, sender, text, parts,
                            cost_grosze, reference, give_up_at, route, country)
      values (${id}, ${REPORTED}, ${id}, 'queued', 'queued', '+48500100200', 'SHOP1', ${'x'.repeat(120)}, 1, 10,
              ${id}, now(), 'simulator', 'PL')`;
    for (const { status, submission, delivered } of STEPS) {
      await connection`
        update messages set status = ${status}, submission = ${submission}, updated_at = now(),
                            delivered_at = case when ${delivered} then now() end
         where id = ${id}`;
    }
  });
}

async function costOfEach<T>(
  sql: Database,
  items: readonly T[],
  write: (connection: Sql, item: T) => Promise<void>,
): Promise<WriteCost> {
  const connection = await sql.reserve();
  try {
    await connection`set synchronous_commit = off`;
    await connection`checkpoint`;
    const [before] = await connection<{ lsn: string }[]>`select pg_current_wal_insert_lsn()::text as lsn`;
    const [server] = await connection<{ pid: number }[]>`select pg_backend_pid() as pid`;
    const cpu = () => cpuMs({ server: server!.pid })['server']!;
    const [start, cpuBefore] = [performance.now(), cpu()];
    for (const item of items) await write(connection, item);
    const [ms, cpuUsed] = [performance.now() - start, cpu() - cpuBefore];
    const [wal] = await connection<{ bytes: number }[]>`
      select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), ${before!.lsn}::pg_lsn)::bigint as bytes`;
    const each = (sum: number): number => sum / items.length;
    return { ms: each(ms), cpuMs: each(cpuUsed), walBytes: each(wal!.bytes) };
  } finally {
    connection.release();
  }
}
