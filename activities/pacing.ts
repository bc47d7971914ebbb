import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../db/connection.ts';
import { pauseRoute, takeSlots } from '../db/routeRates.ts';

/** Keeps one route's rate, together with every other process that submits on it. */
export interface Pacer {
  /** Resolves when so many parts may leave, which they have to do at once; rejects when the wait is broken off. */
  turn(parts: number, signal: AbortSignal): Promise<void>;
  /** Holds everything back for a while: the SMSC asked for it. */
  pause(ms: number): Promise<void>;
}

// A place is good for this long; whoever comes later takes another, so that a process that stood still does not make up
// for it in one burst. The places are that much further apart: no second ever holds more than the rate.
const TOLERANCE_MS = 40;

/** @param ratePerSecond parts per second allowed by the operator; null: as many as the SMSC takes */
export function createPacer(sql: Database, route: string, ratePerSecond: number | null): Pacer {
  let pausedUntil = 0;
  const reserve = ratePerSecond === null ? null : places(sql, route, (1000 + TOLERANCE_MS) / ratePerSecond);

  return {
    async turn(parts, signal) {
      for (;;) {
        await sleepUntil(pausedUntil, signal);
        if (reserve === null) return;
        const at = await reserve(parts);
        await sleepUntil(at, signal);
        const now = performance.now();
        if (now - at <= TOLERANCE_MS && now >= pausedUntil) return;
      }
    },
    async pause(ms) {
      pausedUntil = Math.max(pausedUntil, performance.now() + ms);
      if (ratePerSecond !== null) await pauseRoute(sql, route, ms);
    },
  };
}

interface Waiter {
  parts: number;
  resolve(at: number): void;
  reject(error: unknown): void;
}

/** Takes places for everybody who asks while a statement is under way with the next one; answers in local time. */
function places(sql: Database, route: string, spacingMs: number): (parts: number) => Promise<number> {
  const localTime = clockOf();
  let waiting: Waiter[] = [];
  let running = false;

  async function run(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        const parts = batch.reduce((sum, waiter) => sum + waiter.parts, 0);
        const asked = performance.now();
        const { now, first } = await takeSlots(sql, route, parts, spacingMs);
        let at = localTime(now, asked)(first);
        for (const waiter of batch) {
          waiter.resolve(at);
          at += waiter.parts * spacingMs;
        }
      } catch (error) {
        for (const waiter of batch) waiter.reject(error);
      }
    }
    running = false;
  }

  return (parts) =>
    new Promise((resolve, reject) => {
      waiting.push({ parts, resolve, reject });
      if (!running) void run();
    });
}

const CLOCK_TRUSTED_MS = 60_000;

/**
 * Reads the database's clock off its answers: the quickest one of the last minute tells best how far it is from ours. By
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

async function sleepUntil(at: number, signal: AbortSignal): Promise<void> {
  const wait = at - performance.now();
  if (wait > 0) await delay(wait, undefined, { signal });
}
