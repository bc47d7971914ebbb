import { eraseEmailsAfter } from '../db/emails/retention.ts';
import {
  deleteDrafts,
  deleteUnmatched,
  deleteUnsentLinks,
  forgetReferences,
  type Leftover,
  leftovers,
  type Step,
} from '../db/maintenance/cleanUp.ts';
import type { Database } from '../db/connection.ts';
import { idFloor } from '../db/ids.ts';
import type { IdPrefix } from '../domain/ids.ts';
import { databaseNow, readPosition, savePosition } from '../db/maintenance/positions.ts';
import {
  eraseClicksAfter,
  eraseLookupsAfter,
  eraseMessagesAfter,
  erasePostponed,
  eraseRepliesAfter,
  type Mask,
  postponedAfter,
} from '../db/maintenance/retention.ts';
import { maskMsisdn } from '../domain/msisdn.ts';
import { beat } from './heartbeat.ts';

const DAY_MS = 86_400_000;
// Statements stay short: nobody waits long for a row that is being deleted.
const BATCH = 1_000;
const PAGE = 5_000;
// Of one kind in one run; what is left is the next run's.
const STEPS = 500;

/** For how many days logs are kept unless the settings say otherwise. */
export const LOG_DAYS = 90;

/** For how long things are kept. */
export interface Retention {
  /** Texts and numbers, in days; undefined: for ever. */
  contentDays: number | undefined;
  /** Delivery reports and webhook attempts, in days. */
  logDays: number;
}

/** How many of each kind were deleted or erased. */
export type Removed = Record<string, number>;

type Span = { after: string; before: string; limit: number };

/** The steps of the workflows `cleanUp` and `retention`; each may be cut off and repeated at any place. */
export function maintenanceActivities(sql: Database, { contentDays, logDays }: Retention) {
  return {
    /** Deletes what is of no use any more. */
    async deleteLeftovers(): Promise<Removed> {
      const now = await databaseNow(sql);
      const removed: Removed = {};
      for (const leftover of leftovers(now, Math.min(logDays, contentDays ?? logDays)))
        removed[leftover.name] = await removeAll(sql, leftover);
      return { ...removed, ...(await deleteUnused(sql, now)) };
    },

    /** Takes texts and numbers out of what is older than the configured time, and of what was to be erased at its end. */
    async eraseContents(): Promise<Removed> {
      const postponed = await eraseEnded(sql);
      if (contentDays === undefined) return { postponed };
      const dueBefore = (await databaseNow(sql)) - contentDays * DAY_MS;
      return { postponed, ...(await eraseBefore(sql, dueBefore)) };
    },
  };
}

async function removeAll(sql: Database, { remove }: Leftover): Promise<number> {
  let removed = 0;
  for (let steps = 0; steps < STEPS; steps += 1) {
    const count = await remove(sql, BATCH);
    removed += count;
    beat();
    if (count < BATCH) break;
  }
  return removed;
}

/** Deletes what turns out to be of no use when it is looked at, which happens once in its life, or from time to time. */
async function deleteUnused(sql: Database, now: number): Promise<Removed> {
  return {
    drafts: await walk(sql, 'clean-up: drafts', (after) =>
      deleteDrafts(sql, 'messages', { after, now, limit: PAGE }),
    ),
    'e-mail drafts': await walk(sql, 'clean-up: e-mail drafts', (after) =>
      deleteDrafts(sql, 'emails', { after, now, limit: BATCH }),
    ),
    'tracked_links without a message': await walk(sql, 'clean-up: links', (after) =>
      deleteUnsentLinks(sql, after, now, BATCH),
    ),
    'delivery_reports without a message': await walk(sql, 'clean-up: unmatched', (after) =>
      deleteUnmatched(sql, after, now, BATCH),
    ),
    concat_references: await walk(
      sql,
      'clean-up: references',
      (after) => forgetReferences(sql, after, now, BATCH),
      true,
    ),
  };
}

/** @param dueBefore epoch milliseconds */
async function eraseBefore(sql: Database, dueBefore: number): Promise<Removed> {
  const erase = (
    name: string,
    prefix: IdPrefix,
    step: (sql: Database, span: Span, mask: Mask) => Promise<Step>,
  ): Promise<number> =>
    walk(sql, `retention: ${name}`, (after) =>
      step(sql, { after, before: idFloor(prefix, dueBefore), limit: BATCH }, maskMsisdn),
    );
  return {
    messages: await erase('messages', 'msg', eraseMessagesAfter),
    replies: await erase('replies', 'in', eraseRepliesAfter),
    clicks: await erase('clicks', 'clk', eraseClicksAfter),
    lookups: await erase('look-ups', 'hlr', eraseLookupsAfter),
    emails: await erase('e-mails', 'em', eraseEmailsAfter),
  };
}

async function eraseEnded(sql: Database): Promise<number> {
  let done = 0;
  for (let after = ''; ;) {
    const ids = await postponedAfter(sql, after, BATCH);
    const last = ids.at(-1);
    if (last === undefined) return done;
    done += await erasePostponed(sql, ids, maskMsisdn);
    after = last;
    beat();
  }
}

/** Goes on where the last run stopped; at the end stays there, or with `around` begins anew the next time. */
async function walk(
  sql: Database,
  name: string,
  step: (after: string) => Promise<Step>,
  around = false,
): Promise<number> {
  let after = await readPosition(sql, name);
  let sum = 0;
  for (let steps = 0; steps < STEPS; steps += 1) {
    const { next, done } = await step(after);
    sum += done;
    if (next === null) {
      if (around && after !== '') await savePosition(sql, name, '');
      return sum;
    }
    after = next;
    await savePosition(sql, name, after);
    beat();
  }
  return sum;
}
