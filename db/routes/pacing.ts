import { setTimeout as delay } from 'node:timers/promises';
import type { Database, Sql } from '../connection.ts';
import { gatherAnswers } from '../../concurrency/gather.ts';

/** Instants by the database's clock, epoch milliseconds. */
interface TakenSlots {
  now: number;
  /** When the first of the places taken is. */
  first: number;
}

/**
 * Takes the next places in a route's row of parts, for whichever process asks: places are `spacingMs` apart, and none is
 * given out for a time that has passed.
 */
async function takeSlots(sql: Sql, route: string, parts: number, spacingMs: number): Promise<TakenSlots> {
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

/** Nothing may leave on the route for a while, in any process: the SMSC asked for it. */
export async function pauseRoute(sql: Sql, route: string, ms: number): Promise<void> {
  await sql`
    insert into route_states as s (route, next_slot_at)
    values (${route}, clock_timestamp() + make_interval(secs => ${ms / 1000}))
    on conflict (route) do update set next_slot_at = greatest(s.next_slot_at, excluded.next_slot_at)`;
}

/** Keeps one route's rate, together with every other process that submits on it. */
export interface Pacer {
  /**
   * Waits for the turn of so many parts, which have to leave at once then.
   * @param signal breaks the wait off, while nothing is prepared
   * @returns whether they are to leave
   */
  turn(parts: number, steps: Steps, signal: AbortSignal): Promise<boolean>;
  /** Whether a turn would come at once, as far as this process knows. */
  free(): boolean;
  /** Holds everything back for a while: the SMSC asked for it. Other processes only where the route has a rate. */
  pause(ms: number): Promise<void>;
  /** Breaks all waits off. */
  stop(): void;
}

/** What goes with a turn. */
interface Steps {
  /** Done right before it; resolves to false when the parts must not leave. */
  prepare(): Promise<boolean>;
  /** Takes that back when the turn was missed; another one is waited for. */
  undo(): Promise<void>;
}

// A place is good for this long; whoever comes later takes another, so that a process that stood still does not make up
// for it in one burst.
const TOLERANCE_MS = 60;
// From its turn to the SMSC, more or less.
const ON_THE_WAY_MS = 15;
// By both the places are further apart: no second ever holds more than the rate.
const SECOND_MS = 1000 + TOLERANCE_MS + ON_THE_WAY_MS;
// A statement's time on a busy machine: what was prepared long before would be left open by a crash in between.
const PREPARE_AHEAD_MS = 200;

/** @param ratePerSecond parts per second allowed by the provider; null: as many as the SMSC takes */
export function createPacer(sql: Database, route: string, ratePerSecond: number | null): Pacer {
  const stopping = new AbortController();
  let pausedUntil = 0;
  let lastAt = 0;
  const reserve =
    ratePerSecond === null
      ? () => Promise.resolve(performance.now())
      : places(sql, route, SECOND_MS / ratePerSecond);

  return {
    async turn(parts, steps, signal) {
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

/** Takes places for everybody who asks while a statement is under way with the next one; answers in local time. */
function places(sql: Database, route: string, spacingMs: number): (parts: number) => Promise<number> {
  const localTime = clockOf();
  return gatherAnswers(async (wanted: number[]) => {
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

/**
 * Reads the database's clock off its answers: the quickest one of the last minute shows best how far it is from ours. By
 * each single answer, places would move with every delay on the way.
 */
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
