import type { Client } from '@temporalio/client';
import { TO_REPEAT } from '../workflows/startOptions.ts';
import type { Database } from '../db/connection.ts';
import { startResend } from '../workflows/starts.ts';
import {
  type FoundResend,
  openResendsAfter,
  openResendsAmong,
  type Resend,
} from '../db/webhooks/webhookDeliveries.ts';

const GAP_MIN_MS = 5_000;
const IDS_MAX = 100_000;

/** What a process has started lately and the database still has as open: most of it only waits in its queue. */
export interface StartedLately {
  /** Remembers a start, or another one. */
  add(id: string): void;
  /** From when it is to be started again, epoch milliseconds; null where nothing is known of it. */
  dueAt(id: string): number | null;
}

/**
 * The gap between two starts of one doubles, as each is due once as long again has gone by as since the first: what waits for a long time is
 * started a few times, and a workflow that was lost after its start is made up for all the same.
 * @param idsMax of more than these the one whose start is longest ago is forgotten
 */
export function createStartedLately(idsMax = IDS_MAX): StartedLately {
  // In the order of their last starts.
  const starts = new Map<string, { first: number; due: number }>();
  return {
    add(id) {
      const now = Date.now();
      const first = starts.get(id)?.first ?? now;
      starts.delete(id);
      starts.set(id, { first, due: now + Math.max(now - first, GAP_MIN_MS) });
      for (const oldest of starts.keys()) {
        if (starts.size <= idsMax) break;
        starts.delete(oldest);
      }
    },
    dueAt: (id) => starts.get(id)?.due ?? null,
  };
}

const PAGE = 2_000;
const ROWS_MAX = 10_000;

/** What may have been left without a workflow: how it is read, and started. */
interface Forgettable<One, Found extends One> {
  idOf: (one: One) => string;
  /** What is open, in an order that stays, after a given one (null: from the beginning). */
  openAfter: (after: Found | null, limit: number) => Promise<Found[]>;
  /** @returns null where its workflow has completed, which it starts only with `TO_REPEAT` */
  start: (one: One, reuse: Partial<typeof TO_REPEAT>) => Promise<unknown>;
  /** Which of these are open. */
  stillOpen: (some: readonly One[]) => Promise<One[]>;
  /** In one pass. */
  startsMax: number;
  /** More at a time would only make others wait for Temporal behind them. */
  atOnce: number;
}

/**
 * Makes up for starts that were lost, pass by pass, each bounded in what it reads and starts. What this process has started itself mostly
 * waits in its queue: it is passed over until it is due again, and goes behind what was never started here. Starting it in each pass would
 * slow Temporal, and so lengthen the queue.
 *
 * @returns one pass; safe to run in several processes, as a second start finds the first
 * @throws (the pass) the first failure of a start; the rest waits for the next pass
 */
export function createCatchUp<One, Found extends One>(
  what: Forgettable<One, Found>,
  lately: StartedLately,
): () => Promise<void> {
  // Where the next pass begins: one that always began with the oldest would never see what is behind `ROWS_MAX` others.
  let from: Found | null = null;
  return async () => {
    const { open, last } = await openFrom(what, lately, from);
    await startForgotten<One>(
      open,
      (some, reuse) => startSome(what, lately, some, reuse),
      (completed) => what.stillOpen(completed),
    );
    from = last;
  };
}

/** @returns those whose workflow has completed, and is not run again */
async function startSome<One, Found extends One>(
  { idOf, start, atOnce }: Forgettable<One, Found>,
  lately: StartedLately,
  some: readonly One[],
  reuse: Partial<typeof TO_REPEAT>,
): Promise<One[]> {
  const completed: One[] = [];
  const startOne = async (one: One): Promise<void> => {
    if ((await start(one, reuse)) === null) completed.push(one);
    else lately.add(idOf(one));
  };
  for (let i = 0; i < some.length; i += atOnce) await Promise.all(some.slice(i, i + atOnce).map(startOne));
  return completed;
}

/** @returns what is to be started, and the last one that was looked at; null where that was the end */
async function openFrom<One, Found extends One>(
  what: Forgettable<One, Found>,
  lately: StartedLately,
  from: Found | null,
): Promise<{ open: Found[]; last: Found | null }> {
  const { startsMax } = what;
  const [unknown, due]: [Found[], Found[]] = [[], []];
  const taken = (last: Found | null) => ({ open: [...unknown, ...due].slice(0, startsMax), last });
  let last = from;
  for (let rows = 0; rows < ROWS_MAX; rows += PAGE) {
    const page = await what.openAfter(last, PAGE);
    for (const one of page) {
      if (unknown.length === startsMax) return taken(last);
      last = one;
      const dueAt = lately.dueAt(what.idOf(one));
      if (dueAt === null) unknown.push(one);
      else if (dueAt <= Date.now()) due.push(one);
    }
    if (page.length < PAGE) return taken(null);
  }
  return taken(last);
}

/**
 * Starts the workflows of what was left open here. One may have completed although what it is about is open: the database was restored
 * from a backup, and Temporal was not. Then it is run once more. That is asked of the database after the refusal, as most that are refused
 * have completed since they were found: under a flood each would be run twice.
 *
 * @param startAll returns those whose workflow has completed, which it starts only with `TO_REPEAT`
 * @param stillOpen which of these are open
 */
export async function startForgotten<One>(
  open: readonly One[],
  startAll: (some: readonly One[], reuse: Partial<typeof TO_REPEAT>) => Promise<One[]>,
  stillOpen: (some: readonly One[]) => Promise<One[]>,
): Promise<void> {
  const completed = await startAll(open, {});
  if (completed.length > 0) await startAll(await stillOpen(completed), TO_REPEAT);
}

const STARTS_MAX = 500;
// By then whoever asked for them has started their workflows, or never will.
const RESEND_LATE_SECONDS = 15;

/**
 * Starts what was asked for and never begun: Temporal was away, or the process that was asked has ended.
 * @returns as `createCatchUp` does
 */
export function createForgottenResends(sql: Database, client: Client): () => Promise<void> {
  return createCatchUp<Resend, FoundResend>(
    {
      idOf: ({ eventId, round }) => `${eventId}-${round}`,
      openAfter: (after, limit) => openResendsAfter(sql, RESEND_LATE_SECONDS, after, limit),
      start: (resend, reuse) => startResend(client, resend, reuse),
      stillOpen: (completed) => openResendsAmong(sql, completed),
      startsMax: STARTS_MAX,
      atOnce: 1,
    },
    createStartedLately(),
  );
}
