import type { Database } from '../db/connection.ts';
import { type ChargeNotice, notifyCharged } from '../db/money/chargeNotices.ts';
import { gather } from '../concurrency/gather.ts';
import { waitFor } from '../concurrency/waitFor.ts';

/** Notifies API processes of charges and of those refused for want of money, so that callers have their answer before the workflow task ends. */
export interface ChargeNotices {
  /** Returns at once. Requests decided meanwhile go together. */
  decided(notice: ChargeNotice): void;
}

// A statement that hangs, on a connection that died say, keeps the later ones waiting no longer.
const NOTIFY_MS = 300;

/**
 * One for each worker process.
 * @param onError called with failures, after which the callers concerned have their answer from the workflow
 */
export function createChargeNotices(sql: Database, onError: (error: unknown) => void): ChargeNotices {
  const notify = gather((notices: ChargeNotice[]) =>
    waitFor(notifyCharged(sql, notices).catch(onError), NOTIFY_MS, () => undefined),
  );
  return { decided: (notice) => void notify(notice) };
}
