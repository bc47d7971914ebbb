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
  eraseVerificationsAfter,
  type Mask,
  postponedAfter,
  type Step,
} from '../db/maintenance/retention.ts';
import { maskMsisdn } from '../domain/msisdn.ts';
import { heartbeat, tryEach } from './failures.ts';

type Activities = Record<string, (...args: never[]) => Promise<unknown>>;

/** Wraps activities to record their last success, for monitoring. Failing to record it does not fail the activity. */
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
// Short statements: rows are not locked for long.
const BATCH = 1_000;

export const LOG_DAYS = 90;

interface Retention {
  /** Texts and numbers, in days; undefined: kept for ever. */
  contentDays: number | undefined;
  /** Delivery reports and webhook attempts, in days. */
  logDays: number;
}

export type Removed = Record<string, number>;

/** The steps of the workflows `cleanUp` and `retention`; each may be interrupted and repeated at any point. */
export function maintenanceActivities(sql: Database, { contentDays, logDays }: Retention) {
  return {
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

    /** Erases texts and numbers past the retention period, and where erasure was postponed to the end of a message. */
    async eraseContents(): Promise<Removed> {
      const before = contentDays === undefined ? null : (await databaseNow(sql)) - contentDays * DAY_MS;
      return await eachKind([
        ['postponed', () => eraseEnded(sql)],
        ...(before === null ? [] : madeBefore(sql, before)),
      ]);
    },
  };
}

type Kind = [kind: string, work: () => Promise<number>];

// A kind that fails (locked table, broken index) must not keep the others' personal data from being erased.
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

async function inBatches(remove: () => Promise<number>): Promise<number> {
  let removed = 0;
  for (;;) {
    const count = await remove();
    removed += count;
    heartbeat();
    if (count < BATCH) return removed;
  }
}

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
    erased('verifications', 'ver', eraseVerificationsAfter),
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
    heartbeat();
  }
}

/** Continues from the last run's position, to the end. */
async function walk(sql: Database, kind: string, next: (after: string) => Promise<Step>): Promise<number> {
  const position = `retention: ${kind}`;
  let after = await readPosition(sql, position);
  for (let sum = 0; ;) {
    const { next: last, done } = await next(after);
    sum += done;
    if (last === null) return sum;
    after = last;
    await savePosition(sql, position, after);
    heartbeat();
  }
}
