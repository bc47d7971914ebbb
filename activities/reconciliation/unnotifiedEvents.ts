import type { Database } from '../../db/connection.ts';
import { idFloor } from '../../db/ids.ts';
import { databaseNow, readPosition, savePosition } from '../../db/maintenance/positions.ts';
import { lateBefore, unnotifiedBetween } from '../../db/webhooks/unnotified.ts';
import type { Tally } from '../../workflows/contracts.ts';
import { beat } from '../heartbeat.ts';
import { judgeAll, type Verdict } from './judging.ts';

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
