import type { Database } from '../db/connection.ts';
import { tellCharged } from '../db/money/chargeNews.ts';
import { gather } from '../concurrency/gather.ts';
import { waitFor } from '../concurrency/waitFor.ts';

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
  const tell = gather((requestIds: string[]) =>
    waitFor(tellCharged(sql, requestIds).catch(onError), TELL_MS, () => undefined),
  );
  return { charged: (requestId) => void tell(requestId) };
}
