import { type Database, transaction } from '../../db/connection.ts';
import { closeFindings, recordRepair, reportFinding } from '../../db/maintenance/findings.ts';
import {
  countWaiting,
  databaseNow,
  leftLookups,
  readPosition,
  savePosition,
} from '../../db/maintenance/regularWork.ts';
import { failLookup } from '../../db/lookups/lookups.ts';
import type { Tally } from '../../workflows/contracts.ts';
import { beat } from '../failures.ts';
import { idFloor } from '../../db/ids.ts';
import { lateBefore, unnotifiedBetween } from '../../db/webhooks/unnotified.ts';
import { judgeAll, type Verdict } from './repairs.ts';

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

// All before it are delivered, or a finding names them.
const SETTLED = 'webhook events';
// Where the last run stopped, when it could not look at all that wait.
const LOOKED_AT = 'webhook events looked at';
const PAGE = 5_000;
const PAGES = 200;
const SUBJECTS_PER_RUN = 20_000;
const FIRST_LOOK_BACK_MS = 72 * 3_600_000;

/**
 * Looks at webhook events that are pending for minutes: a Temporal that was restored knows nothing of those whose message
 * is over. Each event is looked at once in its life; where something was repaired, or is on its way, the next run begins there
 * again and sees whether that has helped.
 * @param judge of the message, click, reply or sender domain with an id
 */
export async function reconcileEvents(
  sql: Database,
  judge: (id: string) => Promise<Verdict>,
  tally: Tally,
): Promise<void> {
  const before = lateBefore();
  const begin = await settledUpTo(sql);
  let after = (await readPosition(sql, LOOKED_AT)) || begin;
  let settled = after === begin;
  let looked = 0;
  for (let pages = 0; pages < PAGES && looked < SUBJECTS_PER_RUN; pages += 1) {
    const { last, subjects } = await unnotifiedBetween(sql, after, before, PAGE);
    if (last === null) return savePosition(sql, LOOKED_AT, '');
    const came = await judgeAll(subjects, judge, tally);
    if (came.has('capped')) return;
    looked += subjects.length;
    tally.looked += subjects.length;
    settled &&= !came.has('repaired') && !came.has('waiting');
    after = last;
    if (settled) await savePosition(sql, SETTLED, after);
    beat();
  }
  await savePosition(sql, LOOKED_AT, settled ? '' : after);
}

async function settledUpTo(sql: Database): Promise<string> {
  const position = await readPosition(sql, SETTLED);
  if (position !== '') return position;
  const first = idFloor('evt', (await databaseNow(sql)) - FIRST_LOOK_BACK_MS);
  await savePosition(sql, SETTLED, first);
  return first;
}
