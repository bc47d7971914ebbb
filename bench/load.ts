import { Pool } from 'undici';

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
export async function run(count: number, concurrency: number, work: () => Promise<void>): Promise<Timing> {
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
  const sorted = taken.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
  return {
    count: sorted.length,
    perSecond: (sorted.length / wallMs) * 1000,
    median: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
  };
}

/** The run in the middle by its median, of several of the same kind. */
export function middle(timings: Timing[]): Timing {
  return timings.toSorted((a, b) => a.median - b.median)[Math.floor(timings.length / 2)]!;
}

/** A caller of the API with connections kept alive. */
export interface Caller {
  health(): Promise<void>;
  /** Sends a message; to several recipients when given a list. */
  send(to: string | string[]): Promise<void>;
  /** Sets the account's webhook. */
  webhook(url: string): Promise<void>;
  close(): Promise<void>;
}

/** @param connections held at most */
export function openCaller(url: string, key: string, connections: number): Caller {
  const pool = new Pool(url, { connections, pipelining: 1 });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const call = async (
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    expected: number,
    body?: unknown,
  ): Promise<void> => {
    const response = await pool.request({
      method,
      path,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.body.text();
    if (response.statusCode !== expected) throw new Error(`${path}: ${response.statusCode} ${text}`);
  };
  return {
    health: () => call('GET', '/v1/health', 200),
    send: (to) => call('POST', '/v1/messages', 201, { to, text: 'Twoja paczka czeka w punkcie odbioru.' }),
    webhook: (address) => call('PUT', '/v1/account/webhook', 200, { url: address }),
    close: () => pool.close(),
  };
}
