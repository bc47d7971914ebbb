import { setTimeout as delay } from 'node:timers/promises';
import type { Database, Sql } from '../connection.ts';
import { createResultBatcher } from '../../concurrency/gather.ts';

// Reserves the next slots of a route's rate limit, across all processes: slots are `spacingMs` apart and never in the past. Times are the
// database's, epoch milliseconds.
async function takeSlots(sql: Sql, route: string, parts: number, spacingMs: number) {
  const taken = parts * spacingMs;
  const [row] = await sql<{ now: number; next: number }[]>`
    insert into route_states as s (route, next_slot_at)
    values (${route}, clock_timestamp() + make_interval(secs => ${taken / 1000}))
    on conflict (route) do update
       set next_slot_at = greatest(s.next_slot_at, clock_timestamp()) + make_interval(secs => ${taken / 1000})
    returning (extract(epoch from clock_timestamp()) * 1000)::float8 as now,
              (extract(epoch from next_slot_at) * 1000)::float8 as next`;
  if (!row) throw new Error(`no place taken on ${route}`);
  return { now: row.now, first: row.next - taken };
}

/** Blocks submits on the route for `ms`, in all processes, because the SMSC throttled it. */
export async function pauseRoute(sql: Sql, route: string, ms: number): Promise<void> {
  await sql`
    insert into route_states as s (route, next_slot_at)
    values (${route}, clock_timestamp() + make_interval(secs => ${ms / 1000}))
    on conflict (route) do update set next_slot_at = greatest(s.next_slot_at, excluded.next_slot_at)`;
}

/** Enforces a route's rate limit across all processes that submit on it. */
export interface Pacer {
  /** Waits for slots of parts submitted together. @param signal cancels it while nothing is prepared @returns whether to submit */
  waitForSlot(parts: number, steps: Steps, signal: AbortSignal): Promise<boolean>;
  free(): boolean;
  /** Pauses submits because the SMSC throttled; in other processes only if the route has a rate limit. */
  pause(ms: number): Promise<void>;
  stop(): void;
}

interface Steps {
  /** Runs right before the slot; resolves to false when the parts must not be submitted. */
  prepare(): Promise<boolean>;
  /** Reverts `prepare` when the slot was missed; another one is awaited then. */
  undo(): Promise<void>;
}

// A slot expires after this and another is reserved, so that a stalled process does not submit a burst.
const TOLERANCE_MS = 60;
// Approximate latency from the slot to the SMSC.
const ON_THE_WAY_MS = 15;
// Includes both, so that no second ever exceeds the rate limit.
const SECOND_MS = 1000 + TOLERANCE_MS + ON_THE_WAY_MS;
// Duration of a statement under load; parts prepared long before would be left open by a crash.
const PREPARE_AHEAD_MS = 200;

/** @param ratePerSecond parts per second allowed by the provider; null: unlimited */
export function createPacer(sql: Database, route: string, ratePerSecond: number | null): Pacer {
  const stopping = new AbortController();
  let pausedUntil = 0;
  let lastAt = 0;
  const reserve =
    ratePerSecond === null
      ? () => Promise.resolve(performance.now())
      : places(sql, route, SECOND_MS / ratePerSecond);

  return {
    async waitForSlot(parts, steps, signal) {
      const broken = AbortSignal.any([signal, stopping.signal]);
      for (;;) {
        await sleepUntil(pausedUntil, broken);
        const at = await reserve(parts);
        lastAt = Math.max(lastAt, at);
        await sleepUntil(at - PREPARE_AHEAD_MS, broken);
        if (!(await steps.prepare())) return false;
        await sleepUntil(at);
        const now = performance.now();
        const inTime = ratePerSecond === null || now - at <= TOLERANCE_MS;
        if (inTime && now >= pausedUntil) return true;
        await steps.undo();
      }
    },
    free: () => performance.now() >= Math.max(lastAt, pausedUntil),
    async pause(ms) {
      pausedUntil = Math.max(pausedUntil, performance.now() + ms);
      if (ratePerSecond !== null) await pauseRoute(sql, route, ms);
    },
    stop: () => stopping.abort(),
  };
}

/** Reserves slots in batches: requests that arrive during a statement share the next one. Returns local times. */
function places(sql: Database, route: string, spacingMs: number): (parts: number) => Promise<number> {
  const localTime = clockOf();
  return createResultBatcher(async (wanted: number[]) => {
    const parts = wanted.reduce((sum, some) => sum + some, 0);
    const asked = performance.now();
    const { now, first } = await takeSlots(sql, route, parts, spacingMs);
    let next = localTime(now, asked)(first);
    return wanted.map((some) => {
      const at = next;
      next += some * spacingMs;
      return at;
    });
  });
}

const CLOCK_TRUSTED_MS = 60_000;

// Estimates the offset to the database's clock from the fastest response of the last minute; a single response would shift slots by its
// latency.
function clockOf(): (theirNow: number, asked: number) => (theirs: number) => number {
  let best = { delay: Infinity, offset: 0, at: -Infinity };
  return (theirNow, asked) => {
    const now = performance.now();
    const took = now - asked;
    if (took <= best.delay || now - best.at > CLOCK_TRUSTED_MS) {
      best = { delay: took, offset: theirNow - (asked + took / 2), at: now };
    }
    const { offset } = best;
    return (theirs) => theirs - offset;
  };
}

async function sleepUntil(at: number, signal?: AbortSignal): Promise<void> {
  const wait = at - performance.now();
  if (wait > 0) await delay(wait, undefined, signal ? { signal } : {});
  else signal?.throwIfAborted();
}
