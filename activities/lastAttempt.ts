import { activityInfo, ApplicationFailure } from '@temporalio/activity';

// As the retries of submitting and handing over are declared.
const FIRST_RETRY_MS = 1_000;
const RETRY_MAX_MS = 60_000;
// For the way to the server, and clocks that are a little apart.
const MARGIN_MS = 1_000;

/**
 * Has an attempt that is to be repeated repeated before its activity's time is over. Temporal makes no attempt behind that time: it
 * fails the activity at once, however long there is left, and a message would have expired before its time.
 * @throws what `attempt` throws; an ApplicationFailure that may be retried with a delay that is not too long
 */
export async function untilTheLast<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof ApplicationFailure) || error.nonRetryable === true) throw error;
    const { scheduledTimestampMs, scheduleToCloseTimeoutMs, attempt: made } = activityInfo();
    const leftMs = scheduledTimestampMs + scheduleToCloseTimeoutMs - Date.now();
    throw repeatedWithin(error, leftMs - MARGIN_MS, made);
  }
}

function repeatedWithin(failure: ApplicationFailure, ms: number, made: number): ApplicationFailure {
  const usual = Math.min(FIRST_RETRY_MS * 2 ** (made - 1), RETRY_MAX_MS);
  const wanted = typeof failure.nextRetryDelay === 'number' ? failure.nextRetryDelay : usual;
  if (wanted <= ms || ms <= 0) return failure;
  const { type, message, category, details, cause } = failure;
  return new ApplicationFailure(message, type, false, details, cause, ms, category);
}
