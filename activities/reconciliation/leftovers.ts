import type { Database } from '../../db/connection.ts';
import { closeFindings, recordRepair, reportFinding } from '../../db/maintenance/findings.ts';
import { countWaiting, type LeftLookup, leftLookups } from '../../db/maintenance/leftovers.ts';
import { failLookup, settleLookup } from '../../db/lookups/lookups.ts';
import { transaction } from '../../db/transaction.ts';
import type { Tally } from '../../workflows/contracts.ts';
import { beat } from '../heartbeat.ts';

const LOOKUPS = 1_000;

/** Ends look-ups that nobody will end any more; charged ones are refunded. */
export async function reconcileLookups(sql: Database): Promise<Tally> {
  const lookups = await leftLookups(sql, LOOKUPS);
  for (const lookup of lookups) {
    await endLookup(sql, lookup);
    beat();
  }
  return { looked: lookups.length, repaired: lookups.length, reported: 0 };
}

async function endLookup(sql: Database, { id, accountId, state }: LeftLookup): Promise<void> {
  await transaction(sql, async (tx) => {
    if (state === 'charged') await failLookup(tx, id, 'timed_out');
    else await settleLookup(tx, id);
    await recordRepair(tx, state === 'charged' ? 'look-up ended and refunded' : 'look-up ended', {
      ...{ kind: 'lookup_left', subject: id, accountId, details: { state } },
    });
  });
}

/** Reports clicks and replies that wait for long: their workflows are started every few seconds, and do not get through. */
export async function reconcileWaiting(sql: Database): Promise<Tally> {
  const { clicks, replies } = await countWaiting(sql);
  const found = [
    { kind: 'clicks_waiting', subject: 'clicks', waiting: clicks },
    { kind: 'replies_waiting', subject: 'replies', waiting: replies },
  ] as const;
  let reported = 0;
  for (const { kind, subject, waiting } of found) {
    if (waiting === 0) await closeFindings(sql, [kind], [subject]);
    else if (await reportFinding(sql, { kind, subject, accountId: null, details: { waiting } }))
      reported += 1;
  }
  return { looked: clicks + replies, repaired: 0, reported };
}
