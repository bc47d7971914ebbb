import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../db/connection.ts';
import { tellCharged } from '../db/money/chargeNews.ts';
import { oneAtATime } from '../concurrency/oneAtATime.ts';

/** Tells API processes of charges, so that callers have their answer before the workflow task ends. */
export interface ChargeNews {
  /** Returns at once. Requests charged meanwhile are told together. */
  charged(requestId: string): void;
}

// A statement that hangs, on a connection that died say, keeps the later ones waiting no longer.
const TELL_MS = 300;

/**
 * One for each worker process.
 * @param onError told of failures, after which the callers concerned have their answer from the workflow
 */
export function createChargeNews(sql: Database, onError: (error: unknown) => void): ChargeNews {
  let untold: string[] = [];
  const tell = oneAtATime(async () => {
    const now = untold;
    untold = [];
    if (now.length === 0) return;
    await Promise.race([tellCharged(sql, now).catch(onError), delay(TELL_MS, undefined, { ref: false })]);
  });
  return {
    charged(requestId) {
      untold.push(requestId);
      void tell();
    },
  };
}
