import type { Database } from '../db/connection.ts';
import { idFloor } from '../db/ids.ts';
import { databaseNow, readPosition, savePosition } from '../db/maintenance/positions.ts';
import { lateBefore, untoldBetween } from '../db/webhooks/untold.ts';
import type { Tally } from '../workflows/contracts.ts';
import { beat, judgeAll } from './judging.ts';
import type { Verdict } from './lostWorkflows.ts';

const POSITION = 'webhook events';
const PAGE = 5_000;
const PAGES = 200;
const FIRST_LOOK_BACK_MS = 72 * 3_600_000;

/**
 * Looks at webhook events that are pending for minutes: a Temporal that was restored knows nothing of those whose message
 * is over. Each event is looked at once in its life; where something was mended, or is on its way, the next run begins there
 * again and sees whether that has helped.
 * @param judge of the message, click or reply with an id
 */
export async function reconcileEvents(
  sql: Database,
  judge: (id: string) => Promise<Verdict>,
  tally: Tally,
): Promise<void> {
  const before = lateBefore();
  let after = await begin(sql);
  let settled = true;
  for (let pages = 0; pages < PAGES; pages += 1) {
    const { last, subjects } = await untoldBetween(sql, after, before, PAGE);
    if (last === null) return;
    tally.looked += subjects.length;
    const came = await judgeAll(subjects, judge, tally);
    if (came.has('capped')) return;
    settled &&= !came.has('mended') && !came.has('waiting');
    after = last;
    if (settled) await savePosition(sql, POSITION, after);
    beat();
  }
}

async function begin(sql: Database): Promise<string> {
  const position = await readPosition(sql, POSITION);
  if (position !== '') return position;
  const first = idFloor('evt', (await databaseNow(sql)) - FIRST_LOOK_BACK_MS);
  await savePosition(sql, POSITION, first);
  return first;
}
