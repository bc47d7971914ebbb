import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import { median, quantile } from './spread.ts';

/** How long things took, in milliseconds, and how many there were per second. */
export interface Timing {
  count: number;
  perSecond: number;
  median: number;
  p95: number;
  p99: number;
}

/**
 * Runs `work` a number of times, so many at once: each of them begins as soon as another one ends.
 * @throws the first error of `work`: a failed request would only look fast
 */
export async function run(count: number, concurrency: number, work: () => Promise<unknown>): Promise<Timing> {
  const taken: number[] = [];
  let begun = 0;
  const one = async (): Promise<void> => {
    while (begun < count) {
      begun += 1;
      const start = performance.now();
      await work();
      taken.push(performance.now() - start);
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: concurrency }, one));
  return timing(taken, performance.now() - start);
}

function timing(taken: number[], wallMs: number): Timing {
  return {
    count: taken.length,
    perSecond: (taken.length / wallMs) * 1000,
    median: median(taken),
    p95: quantile(taken, 0.95),
    p99: quantile(taken, 0.99),
  };
}

/**
 * Begins `work` at instants of its own, whether or not earlier ones have ended: Poisson arrivals of a mean rate. What
 * is timed begins at the planned instant, so that a stall is paid for by everything that waits behind it.
 *
 * @param seed of the instants: the same for all that are compared
 * @throws the first error of `work`
 */
export async function arrive(
  count: number,
  perSecond: number,
  seed: number,
  work: () => Promise<unknown>,
): Promise<Timing> {
  const random = generator(seed);
  const taken: number[] = [];
  const under: Promise<void>[] = [];
  const start = performance.now();
  let planned = start;
  for (let begun = 0; begun < count; begun += 1) {
    planned += (-Math.log(1 - random()) / perSecond) * 1000;
    const ahead = planned - performance.now();
    if (ahead > 1) await delay(ahead);
    const from = planned;
    const one = work().then(() => void taken.push(performance.now() - from));
    // Looked at below; until then it is not unhandled.
    one.catch(() => undefined);
    under.push(one);
  }
  await Promise.all(under);
  return timing(taken, performance.now() - start);
}

/** Numbers from 0 to below 1 (mulberry32). */
export function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The run in the middle by its median, of several of the same kind. */
export function middle<T extends Timing>(timings: T[]): T {
  return timings.toSorted((a, b) => a.median - b.median)[Math.floor(timings.length / 2)]!;
}

/** What a message may have beside recipient and text. */
export interface SendOptions {
  /** ISO 8601. */
  send_at?: string;
  priority?: boolean;
}

/** A caller of the API with connections kept alive. */
export interface Caller {
  /** Sends a message; to several recipients when given a list. Returns the answer. */
  send(to: string | string[], options?: SendOptions): Promise<unknown>;
  /** Requests that the API gave up after its time (502 or 504: nothing accepted) and that were sent again. */
  refused(): number;
  /** Sets the account's webhook. */
  webhook(url: string): Promise<void>;
  close(): Promise<void>;
}

const TRY_AGAIN = [502, 504];
// As clients do; all at once again would only be refused again.
const REST_MS = 250;
const REST_MAX_MS = 5_000;
// A service that refuses more is not measured any more.
const MAX_REFUSED = 1000;
const TEXT = 'Twoja paczka czeka w punkcie odbioru.';

/** @param connections held at most */
export function openCaller(url: string, key: string, connections: number): Caller {
  const pool = new Pool(url, { connections, pipelining: 1 });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  let refused = 0;
  const once = async (
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    body: unknown,
  ): Promise<{ status: number; text: string }> => {
    const response = await pool.request({
      method,
      path,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.statusCode, text: await response.body.text() };
  };
  const call = async (
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    expected: number,
    body?: unknown,
  ): Promise<unknown> => {
    for (let tries = 0; ; tries += 1) {
      const { status, text } = await once(method, path, body);
      if (status === expected) return JSON.parse(text) as unknown;
      if (!TRY_AGAIN.includes(status) || refused >= MAX_REFUSED)
        throw new Error(`${path}: ${status} ${text}`);
      refused += 1;
      await delay(Math.min(REST_MS * 2 ** tries, REST_MAX_MS));
    }
  };
  return {
    send: (to, options) => call('POST', '/v1/messages', 201, { to, text: TEXT, ...options }),
    async webhook(address) {
      await call('PUT', '/v1/account/webhook', 200, { url: address });
    },
    refused: () => refused,
    close: () => pool.close(),
  };
}
