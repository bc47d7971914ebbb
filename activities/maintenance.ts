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
// Of one kind at a time, so that no kind keeps others waiting for long; what is left is the next time's.
const STEPS = 500;

/** For how many days logs are kept unless the settings say otherwise. */
export const LOG_DAYS = 90;

/** For how long things are kept. */
export interface Retention {
  /** Texts and numbers, in days; undefined: for ever. */
  contentDays: number | undefined;
  /** Delivery reports and webhook attempts, in days. */
  logDays: number;
  /** How many steps of a kind are done at a time; some hundreds unless told. */
  steps?: number;
}

/** How many of each kind were deleted or erased; `left`: of how many kinds there may be more, if of any. */
export type Removed = Record<string, number>;

/** What became of the steps of one kind that were done at a time. */
interface Walked {
  done: number;
  /** Whether it came to the end. */
  over: boolean;
}

type Span = { after: string; before: string; limit: number };

/** The steps of the workflows `cleanUp` and `retention`; each may be cut off and repeated at any place. */
export function maintenanceActivities(sql: Database, { contentDays, logDays, steps = STEPS }: Retention) {
  return {
    /** Deletes what is of no use any more. */
    async deleteLeftovers(): Promise<Removed> {
      const now = await databaseNow(sql);
      const removed: Removed = {};
      for (const leftover of leftovers(now, Math.min(logDays, contentDays ?? logDays)))
        removed[leftover.name] = await removeAll(sql, leftover, steps);
      return { ...removed, ...(await deleteUnused(sql, now, steps)) };
    },

    /**
     * Takes texts and numbers out of what is older than the configured time, and of what was to be erased at its end: some
     * hundred thousand of each kind. It is called again while there is more.
     */
    async eraseContents(): Promise<Removed> {
      const postponed = await eraseEnded(sql);
      if (contentDays === undefined) return { postponed };
      const dueBefore = (await databaseNow(sql)) - contentDays * DAY_MS;
      return { postponed, ...(await eraseBefore(sql, dueBefore, steps)) };
    },
  };
}

async function removeAll(sql: Database, { remove }: Leftover, steps: number): Promise<number> {
  let removed = 0;
  for (let step = 0; step < steps; step += 1) {
    const count = await remove(sql, BATCH);
    removed += count;
    beat();
    if (count < BATCH) break;
  }
  return removed;
}

/** Deletes what turns out to be of no use when it is looked at, which happens once in its life, or from time to time. */
async function deleteUnused(sql: Database, now: number, steps: number): Promise<Removed> {
  const remove = async (name: string, step: (after: string) => Promise<Step>, around = false) =>
    (await walk(sql, `clean-up: ${name}`, step, { steps, around })).done;
  return {
    drafts: await remove('drafts', (after) => deleteDrafts(sql, 'messages', { after, now, limit: PAGE })),
    'e-mail drafts': await remove('e-mail drafts', (after) =>
      deleteDrafts(sql, 'emails', { after, now, limit: BATCH }),
    ),
    'tracked_links without a message': await remove('links', (after) =>
      deleteUnsentLinks(sql, after, now, BATCH),
    ),
    'delivery_reports without a message': await remove('unmatched', (after) =>
      deleteUnmatched(sql, after, now, BATCH),
    ),
    concat_references: await remove('references', (after) => forgetReferences(sql, after, now, BATCH), true),
  };
}

/** @param dueBefore epoch milliseconds */
async function eraseBefore(sql: Database, dueBefore: number, steps: number): Promise<Removed> {
  const erase = (
    name: string,
    prefix: IdPrefix,
    step: (sql: Database, span: Span, mask: Mask) => Promise<Step>,
  ): Promise<Walked> => {
    const before = idFloor(prefix, dueBefore);
    const next = (after: string) => step(sql, { after, before, limit: BATCH }, maskMsisdn);
    return walk(sql, `retention: ${name}`, next, { steps });
  };
  const walked = {
    messages: await erase('messages', 'msg', eraseMessagesAfter),
    replies: await erase('replies', 'in', eraseRepliesAfter),
    clicks: await erase('clicks', 'clk', eraseClicksAfter),
    lookups: await erase('look-ups', 'hlr', eraseLookupsAfter),
    emails: await erase('e-mails', 'em', eraseEmailsAfter),
  };
  const erased = Object.entries(walked).map(([kind, { done }]) => [kind, done] as const);
  const left = Object.values(walked).filter(({ over }) => !over).length;
  return { ...Object.fromEntries(erased), ...(left === 0 ? {} : { left }) };
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

/** Goes on where it stopped the last time; at the end stays there, or with `around` begins anew the next time. */
async function walk(
  sql: Database,
  name: string,
  next: (after: string) => Promise<Step>,
  { steps, around = false }: { steps: number; around?: boolean },
): Promise<Walked> {
  let after = await readPosition(sql, name);
  let sum = 0;
  for (let step = 0; step < steps; step += 1) {
    const { next: last, done } = await next(after);
    sum += done;
    if (last === null) {
      if (around && after !== '') await savePosition(sql, name, '');
      return { done: sum, over: true };
    }
    after = last;
    await savePosition(sql, name, after);
    beat();
  }
  return { done: sum, over: false };
}
