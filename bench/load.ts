import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';

/** How long things took, in milliseconds, and how many there were per second. */
export interface Timing {
  perSecond: number;
  median: number;
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
  const seconds = (performance.now() - start) / 1000;
  return { perSecond: count / seconds, median: quantile(taken, 0.5), p99: quantile(taken, 0.99) };
}

/**
 * Begins `work` at instants of its own, whether or not earlier ones have ended: Poisson arrivals of a mean rate.
 * @param seed of the instants: the same for all that are compared
 * @param work is given the instant that was planned for it (epoch milliseconds), to be timed from: a stall is paid for by
 *   everything that waits behind it
 * @throws the first error of `work`
 */
export async function arrive(
  count: number,
  perSecond: number,
  seed: number,
  work: (planned: number) => Promise<unknown>,
): Promise<void> {
  const random = generator(seed);
  const under: Promise<unknown>[] = [];
  let planned = Date.now();
  for (let begun = 0; begun < count; begun += 1) {
    planned += (-Math.log(1 - random()) / perSecond) * 1000;
    const ahead = planned - Date.now();
    if (ahead > 1) await delay(ahead);
    const one = work(planned);
    // Looked at below; until then it is not unhandled.
    one.catch(() => undefined);
    under.push(one);
  }
  await Promise.all(under);
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

/** The value below which a share of all lies. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/** The one in the middle, of several rounds of the same kind. */
export function middle<T>(rounds: T[], by: (round: T) => number): T {
  return rounds.toSorted((a, b) => by(a) - by(b))[Math.floor(rounds.length / 2)]!;
}

/** A caller of the API with connections kept alive. */
export interface Caller {
  /** Sends a message; to several recipients when given a list. Returns the answer. */
  send(to: string | string[]): Promise<unknown>;
  /** Sets the account's webhook. */
  webhook(url: string): Promise<void>;
}

const CONNECTIONS = 256;
const TEXT = 'Twoja paczka czeka w punkcie odbioru.';

/** Any answer that is no success is an error. */
export function openCaller(url: string, key: string): Caller {
  const pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1 });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const call = async (method: 'POST' | 'PUT', path: string, body: object): Promise<unknown> => {
    const response = await pool.request({ method, path, headers, body: JSON.stringify(body) });
    const text = await response.body.text();
    if (response.statusCode >= 300) throw new Error(`${path}: ${response.statusCode} ${text}`);
    return JSON.parse(text);
  };
  return {
    send: (to) => call('POST', '/v1/messages', { to, text: TEXT }),
    async webhook(address) {
      await call('PUT', '/v1/account/webhook', { url: address });
    },
  };
}

/** So many different numbers. */
export function numbers(count: number): string[] {
  return Array.from(
    { length: count },
    (_, index) => `+48500${String(100_000 + index * 1_000).padStart(6, '0')}`,
  );
}
