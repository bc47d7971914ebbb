import type { Database } from '../../db/connection.ts';
import { closeFindings, recordRepair, reportFinding } from '../../db/maintenance/findings.ts';
import { countWaiting, leftLookups } from '../../db/maintenance/leftovers.ts';
import { failLookup } from '../../db/lookups/lookups.ts';
import { transaction } from '../../db/transaction.ts';
import type { Tally } from '../../workflows/contracts.ts';
import { beat } from '../heartbeat.ts';

const LOOKUPS = 1_000;

/** Ends and refunds look-ups that nobody will end any more. */
export async function reconcileLookups(sql: Database): Promise<Tally> {
  const lookups = await leftLookups(sql, LOOKUPS);
  for (const { id, accountId } of lookups) {
    await transaction(sql, async (tx) => {
      await failLookup(tx, id, 'timed_out');
      await recordRepair(tx, 'look-up ended and refunded', {
        ...{ kind: 'lookup_left', subject: id, accountId, details: {} },
      });
    });
    beat();
  }
  return { looked: lookups.length, repaired: lookups.length, reported: 0 };
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
