import { log } from '@temporalio/activity';
import type { Database } from '../db/connection.ts';
import { databaseNow, noteSuccess, readPosition, savePosition } from '../db/maintenance/regularWork.ts';
import { eraseEmailsAfter } from '../db/emails/retention.ts';
import { leftovers } from '../db/maintenance/cleanUp.ts';
import { idFloor } from '../db/ids.ts';
import type { IdPrefix } from '../domain/ids.ts';
import {
  eraseClicksBefore,
  eraseLookupsAfter,
  eraseMessagesAfter,
  erasePostponed,
  eraseRepliesAfter,
  type Mask,
  postponedAfter,
  type Step,
} from '../db/maintenance/retention.ts';
import { maskMsisdn } from '../domain/msisdn.ts';
import { beat, tryEach } from './failures.ts';

type Activities = Record<string, (...args: never[]) => Promise<unknown>>;

/**
 * The same activities; each notes when it has succeeded, for whoever watches that the regular work gets done. What is done stays done where
 * that cannot be noted.
 */
export function notingSuccess<Steps extends Activities>(sql: Database, steps: Steps): Steps {
  const noting = Object.entries(steps).map(([activity, step]) => [
    activity,
    async (...args: never[]) => {
      const result = await step(...args);
      await noteSuccess(sql, activity).catch((error: unknown) => {
        log.warn('regular work: a success could not be noted', { error });
      });
      return result;
    },
  ]);
  return Object.fromEntries(noting) as Steps;
}

const DAY_MS = 86_400_000;
// Statements stay short: nobody waits long for a row that is being deleted.
const BATCH = 1_000;

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

/** The steps of the workflows `cleanUp` and `retention`; each may be cut off and repeated at any place. */
export function maintenanceActivities(sql: Database, { contentDays, logDays }: Retention) {
  return {
    /** Deletes what is of no use any more. */
    async deleteLeftovers(): Promise<Removed> {
      const days = Math.min(logDays, contentDays ?? logDays);
      const statements = Object.entries(leftovers(sql, await databaseNow(sql), days, BATCH));
      return await eachKind(
        statements.map(([kind, statement]) => [
          kind,
          () => inBatches(async () => (await sql`${statement}`).count),
        ]),
      );
    },

    /** Takes texts and numbers out of what is older than the configured time, and of what was to be erased at its end. */
    async eraseContents(): Promise<Removed> {
      const before = contentDays === undefined ? null : (await databaseNow(sql)) - contentDays * DAY_MS;
      return await eachKind([
        ['postponed', () => eraseEnded(sql)],
        ...(before === null ? [] : madeBefore(sql, before)),
      ]);
    },
  };
}

/** What is done with a kind; returns with how many. */
type Kind = [kind: string, work: () => Promise<number>];

/**
 * Goes through all kinds, one after the other: what cannot be done with one, its table locked or its index broken, keeps no
 * other, with somebody's personal data perhaps, from being cleaned.
 * @throws what failed first, once all have been gone through
 */
async function eachKind(kinds: readonly Kind[]): Promise<Removed> {
  const removed: Removed = {};
  await tryEach(
    kinds,
    async ([kind, work]) => {
      removed[kind] = await work();
    },
    (error, [kind]) => void log.warn('maintenance: a kind could not be cleaned', { kind, error }),
  );
  return removed;
}

/** @param remove does a batch; returns how many there were */
async function inBatches(remove: () => Promise<number>): Promise<number> {
  let removed = 0;
  for (;;) {
    const count = await remove();
    removed += count;
    beat();
    if (count < BATCH) return removed;
  }
}

/**
 * Erases what was made before a moment.
 * @param dueBefore epoch milliseconds
 */
function madeBefore(sql: Database, dueBefore: number): Kind[] {
  const erased = (
    name: string,
    prefix: IdPrefix,
    step: (
      sql: Database,
      span: { after: string; before: string; limit: number },
      mask: Mask,
    ) => Promise<Step>,
  ): Kind => {
    const before = idFloor(prefix, dueBefore);
    return [name, () => walk(sql, name, (after) => step(sql, { after, before, limit: BATCH }, maskMsisdn))];
  };
  return [
    erased('messages', 'msg', eraseMessagesAfter),
    erased('replies', 'in', eraseRepliesAfter),
    ['clicks', () => inBatches(() => eraseClicksBefore(sql, new Date(dueBefore), BATCH))],
    erased('lookups', 'hlr', eraseLookupsAfter),
    erased('emails', 'em', eraseEmailsAfter),
  ];
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

/** Goes on where it stopped the last time, to the end. */
async function walk(sql: Database, kind: string, next: (after: string) => Promise<Step>): Promise<number> {
  const position = `retention: ${kind}`;
  let after = await readPosition(sql, position);
  for (let sum = 0; ;) {
    const { next: last, done } = await next(after);
    sum += done;
    if (last === null) return sum;
    after = last;
    await savePosition(sql, position, after);
    beat();
  }
}
