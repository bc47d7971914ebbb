import { activityInfo, ApplicationFailure } from '@temporalio/activity';
import { ensureApplicationFailure, TemporalFailure } from '@temporalio/common';

// As the retries of submitting and handing over are declared.
const FIRST_RETRY_MS = 1_000;
const RETRY_MAX_MS = 60_000;
// What a provider takes still needs time to be delivered and reported, and SMSCs take no validity below a minute: taken at the very
// end it would have expired for us, paid, and reached the phone all the same.
const MARGIN_MS = 60_000;

/**
 * Has an attempt that is to be repeated repeated before its activity's time is over, a minute before its end at the latest. Temporal
 * makes no attempt behind that time: it fails the activity at once, however long there is left, and a message would have expired
 * before its time. Within the last minute the ordinary pauses hold.
 * @throws what `attempt` throws; an ApplicationFailure with a delay that is not too long in place of an error that is to be retried later
 */
export async function untilTheLast<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (!isRetried(error)) throw error;
    const { scheduledTimestampMs, scheduleToCloseTimeoutMs, attempt: made } = activityInfo();
    const leftMs = scheduledTimestampMs + scheduleToCloseTimeoutMs - Date.now();
    throw repeatedWithin(error, leftMs - MARGIN_MS, made);
  }
}

// Cancelled, for one, it is not.
function isRetried(error: unknown): boolean {
  return error instanceof ApplicationFailure
    ? error.nonRetryable !== true
    : !(error instanceof TemporalFailure);
}

/** How long the retry policy of submitting and handing over waits behind an attempt, in milliseconds. @param attempt from 1 */
export function usualPause(attempt: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** (attempt - 1), RETRY_MAX_MS);
}

function repeatedWithin(error: unknown, ms: number, made: number): unknown {
  const failure = ensureApplicationFailure(error);
  const wanted = typeof failure.nextRetryDelay === 'number' ? failure.nextRetryDelay : usualPause(made);
  if (wanted <= ms || ms <= 0) return error;
  const { message, type, details, cause, category } = failure;
  return new ApplicationFailure(message, type, false, details, cause, ms, category);
}
