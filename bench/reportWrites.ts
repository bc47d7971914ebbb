import type { Database } from '../db/connection.ts';
import { newId } from '../db/ids.ts';
import { REPORTED } from './reportData.ts';

/** What a message costs the database in the writes of its life. */
export interface WriteCost {
  ms: number;
  walBytes: number;
}

const STEPS = [
  { status: 'queued', submission: 'waiting', delivered: false },
  { status: 'queued', submission: 'under way', delivered: false },
  { status: 'sent', submission: 'answered', delivered: false },
  { status: 'delivered', submission: 'answered', delivered: true },
];

/**
 * Writes drafts and takes each message through the changes it sees until it is delivered, one statement each, without
 * waiting for the disk.
 * @param count messages
 * @returns the cost of one message
 */
export async function liveThrough(sql: Database, count: number): Promise<WriteCost> {
  const connection = await sql.reserve();
  try {
    await connection`set synchronous_commit = off`;
    await connection`checkpoint`;
    const ids = Array.from({ length: count }, () => newId('msg'));
    const [before] = await connection<{ lsn: string }[]>`select pg_current_wal_insert_lsn()::text as lsn`;
    const start = performance.now();
    for (const id of ids) {
      await connection`
        insert into messages (id, account_id, request_id, status, accepted_as, recipient, sender, text, parts,
                              cost_grosze, reference, give_up_at, carrier, country)
        values (${id}, ${REPORTED}, ${id}, 'draft', 'queued', '+48500100200', 'SHOP1', ${'x'.repeat(120)}, 1, 10,
                ${id}, now(), 'simulator', 'PL')`;
      for (const { status, submission, delivered } of STEPS) {
        await connection`
          update messages set status = ${status}, submission = ${submission}, updated_at = now(),
                              delivered_at = case when ${delivered} then now() end
           where id = ${id}`;
      }
    }
    const ms = performance.now() - start;
    const [wal] = await connection<{ bytes: number }[]>`
      select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), ${before!.lsn}::pg_lsn)::bigint as bytes`;
    return { ms: ms / count, walBytes: wal!.bytes / count };
  } finally {
    connection.release();
  }
}
