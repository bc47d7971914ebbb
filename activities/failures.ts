import { activityInfo, ApplicationFailure, Context } from '@temporalio/activity';
import { ApplicationFailureCategory, ensureApplicationFailure, TemporalFailure } from '@temporalio/common';
import { FAILURE } from '../workflows/contracts.ts';

/** The database has no such accepted message, and never will: it was restored from an older backup. */
export function unknownMessage(messageId: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`no accepted message ${messageId}`, FAILURE.unknownMessage);
}

export function unknownEmail(id: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`no accepted e-mail ${id}`, FAILURE.unknownEmail);
}

/** A reply is stored before its workflow starts, so a missing one never comes. */
export function unknownReply(id: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`no reply ${id}`, FAILURE.unknownReply);
}

export function unknownPayment(id: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`no payment ${id}`, FAILURE.unknownPayment);
}

/** The processor refuses a refund for good. */
export function paymentRefused(why: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(why, FAILURE.paymentRefused);
}

/** @param code the provider's. @param afterMs retry delay; undefined: the retry policy's */
export function routeUnavailable(route: string, code: string, afterMs?: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: FAILURE.routeUnavailable,
    message: `the route ${route} does not work: ${code}`,
    category: ApplicationFailureCategory.BENIGN,
    ...(afterMs === undefined ? {} : { nextRetryDelay: afterMs }),
  });
}

/** Retried after `afterMs`. @param code the provider's, if it gave one */
export function throttled(why: string, afterMs: number, code: string | null): ApplicationFailure {
  return ApplicationFailure.create({
    type: FAILURE.throttled,
    message: code === null ? why : `${why} (${code})`,
    category: ApplicationFailureCategory.BENIGN,
    nextRetryDelay: afterMs,
  });
}

const HEARTBEAT_MS = 5_000;

/** Runs `work` with heartbeats. */
export async function withHeartbeat<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const heartbeat = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
  }
}

/** Sends a heartbeat. @throws CancelledFailure if the activity is cancelled or its worker shuts down */
export function heartbeat(): void {
  const context = Context.current();
  context.cancellationSignal.throwIfAborted();
  context.heartbeat();
}

// Must match the retry policies of `submit` and `handOver`.
const FIRST_RETRY_MS = 1_000;
const RETRY_MAX_MS = 60_000;
// SMSCs take no validity below a minute: a message accepted at the very end would expire here, paid, and still reach the phone.
const MARGIN_MS = 60_000;

/**
 * Shortens a retry delay to end a minute before the schedule-to-close timeout: Temporal fails an activity at once when the delay exceeds
 * it, and the message would expire early. In the last minute delays stay as they are.
 * @throws what `attempt` throws, as an ApplicationFailure with a shorter delay if need be
 */
export async function clampRetryToDeadline<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (!isRetried(error)) throw error;
    const { scheduledTimestampMs, scheduleToCloseTimeoutMs, attempt: made } = activityInfo();
    const leftMs = scheduledTimestampMs + scheduleToCloseTimeoutMs - Date.now();
    throw retryWithin(error, leftMs - MARGIN_MS, made);
  }
}

// Other Temporal failures, such as a cancellation, are not retried.
function isRetried(error: unknown): boolean {
  return error instanceof ApplicationFailure
    ? error.nonRetryable !== true
    : !(error instanceof TemporalFailure);
}

/** The pause of that retry policy after an attempt, in milliseconds. @param attempt from 1 */
export function usualRetryDelay(attempt: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** (attempt - 1), RETRY_MAX_MS);
}

function retryWithin(error: unknown, ms: number, made: number): unknown {
  const failure = ensureApplicationFailure(error);
  const wanted = typeof failure.nextRetryDelay === 'number' ? failure.nextRetryDelay : usualRetryDelay(made);
  if (wanted <= ms || ms <= 0) return error;
  const { message, type, details, cause, category } = failure;
  return new ApplicationFailure(message, type, false, details, cause, ms, category);
}

/** Goes on after failures, except at the worker's shutdown. @param onFailure gets each one. @throws the first failure, after all items */
export async function tryEach<Of>(
  all: Iterable<Of> | AsyncIterable<Of>,
  work: (one: Of) => Promise<void>,
  onFailure?: (error: unknown, one: Of) => void,
): Promise<void> {
  const failed: unknown[] = [];
  for await (const one of all) {
    try {
      await work(one);
    } catch (error) {
      heartbeat();
      failed.push(error);
      onFailure?.(error, one);
    }
  }
  if (failed.length > 0) throw failed[0];
}
