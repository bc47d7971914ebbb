import { log } from '@temporalio/activity';
import type { Database } from '../db/connection.ts';
import { databaseNow, noteSuccess, readPosition, savePosition } from '../db/maintenance/regularWork.ts';
import { eraseEmailsAfter } from '../db/emails/retention.ts';
import {
  deleteUnmatched,
  forgetReferences,
  type Leftover,
  leftovers,
  type Step,
} from '../db/maintenance/cleanUp.ts';
import { idFloor } from '../db/ids.ts';
import type { IdPrefix } from '../domain/ids.ts';
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
import { beat, tryEach } from './failures.ts';

type Activities = Record<string, (...args: never[]) => Promise<unknown>>;

/**
 * The same activities; each notes when it has succeeded, for whoever watches that the regular work gets done: one that leaves something
 * for its next call has not yet, so that it shows where more comes than is done. What is done stays done where that cannot be noted.
 */
export function notingSuccess<Steps extends Activities>(sql: Database, steps: Steps): Steps {
  const noting = Object.entries(steps).map(([activity, step]) => [
    activity,
    async (...args: never[]) => {
      const result = await step(...args);
      if (leavesSome(result)) return result;
      await noteSuccess(sql, activity).catch((error: unknown) => {
        log.warn('regular work: a success could not be noted', { error });
      });
      return result;
    },
  ]);
  return Object.fromEntries(noting) as Steps;
}

function leavesSome(result: unknown): boolean {
  return typeof result === 'object' && result !== null && 'left' in result;
}

const DAY_MS = 86_400_000;
// Statements stay short: nobody waits long for a row that is being deleted.
const BATCH = 1_000;
// Of one kind at a time, so that no kind keeps others waiting for long.
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
    /** Deletes what is of no use any more, some hundred thousand of each kind. It is called again while there is more. */
    async deleteLeftovers(): Promise<Removed> {
      const now = await databaseNow(sql);
      const kinds = leftovers(now, Math.min(logDays, contentDays ?? logDays));
      const removed = await eachKind({
        ...Object.fromEntries(kinds.map((kind) => [kind.name, () => removeAll(sql, kind, steps)])),
        ...unused(sql, now, steps),
      });
      return withLeft(removed);
    },

    /**
     * Takes texts and numbers out of what is older than the configured time, and of what was to be erased at its end: some
     * hundred thousand of each kind. It is called again while there is more.
     */
    async eraseContents(): Promise<Removed> {
      const dueBefore =
        contentDays === undefined ? undefined : (await databaseNow(sql)) - contentDays * DAY_MS;
      const erased = await eachKind({
        postponed: () => eraseEnded(sql),
        ...(dueBefore === undefined ? {} : madeBefore(sql, dueBefore, steps)),
      });
      return withLeft(erased);
    },
  };
}

/** What is done with each kind, by its name. */
type Kinds = Record<string, () => Promise<Walked>>;

/**
 * Goes through all kinds, one after the other: what cannot be done with one, its table locked or its index broken, keeps no
 * other, with somebody's personal data perhaps, from being cleaned.
 * @throws what failed first, once all have been gone through
 */
async function eachKind(kinds: Kinds): Promise<Record<string, Walked>> {
  const walked: Record<string, Walked> = {};
  await tryEach(
    Object.entries(kinds),
    async ([kind, work]) => {
      walked[kind] = await work();
    },
    (error, [kind]) => void log.warn('maintenance: a kind could not be cleaned', { kind, error }),
  );
  return walked;
}

function withLeft(walked: Record<string, Walked>): Removed {
  const counts = Object.fromEntries(Object.entries(walked).map(([kind, { done }]) => [kind, done]));
  const left = Object.values(walked).filter(({ over }) => !over).length;
  return { ...counts, ...(left === 0 ? {} : { left }) };
}

async function removeAll(sql: Database, { remove }: Leftover, steps: number): Promise<Walked> {
  let removed = 0;
  for (let step = 0; step < steps; step += 1) {
    const count = await remove(sql, BATCH);
    removed += count;
    beat();
    if (count < BATCH) return { done: removed, over: true };
  }
  return { done: removed, over: false };
}

/** Deletes what turns out to be of no use when it is looked at, which happens once in its life, or from time to time. */
function unused(sql: Database, now: number, steps: number): Kinds {
  const deleted =
    (name: string, next: (after: string) => Promise<Step>, around = false) =>
    () =>
      walk(sql, `clean-up: ${name}`, next, { steps, around });
  return {
    'delivery_reports without a message': deleted('unmatched', (after) =>
      deleteUnmatched(sql, after, now, BATCH),
    ),
    concat_references: deleted('references', (after) => forgetReferences(sql, after, now, BATCH), true),
  };
}

/**
 * Erases what was made before a moment.
 * @param dueBefore epoch milliseconds
 */
function madeBefore(sql: Database, dueBefore: number, steps: number): Kinds {
  const erased =
    (name: string, prefix: IdPrefix, step: (sql: Database, span: Span, mask: Mask) => Promise<Step>) =>
    () => {
      const before = idFloor(prefix, dueBefore);
      const next = (after: string) => step(sql, { after, before, limit: BATCH }, maskMsisdn);
      return walk(sql, `retention: ${name}`, next, { steps });
    };
  return {
    messages: erased('messages', 'msg', eraseMessagesAfter),
    replies: erased('replies', 'in', eraseRepliesAfter),
    clicks: erased('clicks', 'clk', eraseClicksAfter),
    lookups: erased('look-ups', 'hlr', eraseLookupsAfter),
    emails: erased('e-mails', 'em', eraseEmailsAfter),
  };
}

async function eraseEnded(sql: Database): Promise<Walked> {
  let done = 0;
  for (let after = ''; ;) {
    const ids = await postponedAfter(sql, after, BATCH);
    const last = ids.at(-1);
    if (last === undefined) return { done, over: true };
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
  // What goes around begins anew anyway: its next steps have time until the next run.
  return { done: sum, over: around };
}
