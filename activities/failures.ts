import { activityInfo, ApplicationFailure, Context } from '@temporalio/activity';
import { ApplicationFailureCategory, ensureApplicationFailure, TemporalFailure } from '@temporalio/common';
import { FAILURE } from '../workflows/contracts.ts';

/**
 * The database has no accepted message of this id, nor will it have one: it was restored from a backup of before the
 * message.
 */
export function unknownMessage(messageId: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`no accepted message ${messageId}`, FAILURE.unknownMessage);
}

/** The same of an e-mail. */
export function unknownEmail(id: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`no accepted e-mail ${id}`, FAILURE.unknownEmail);
}

/** The same of a reply. It is stored before its workflow is started. */
export function unknownReply(id: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`no reply ${id}`, FAILURE.unknownReply);
}

/**
 * A route does not work, nor does another that could take its place: to be tried again on it.
 * @param code of its provider
 * @param afterMs how long to wait; undefined: as long as the retry policy says
 */
export function routeUnavailable(route: string, code: string, afterMs?: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: FAILURE.routeUnavailable,
    message: `the route ${route} does not work: ${code}`,
    category: ApplicationFailureCategory.BENIGN,
    ...(afterMs === undefined ? {} : { nextRetryDelay: afterMs }),
  });
}

/** It is too early: to be tried again after so long. @param code of the provider, where it gave one */
export function throttled(why: string, afterMs: number, code: string | null): ApplicationFailure {
  return ApplicationFailure.create({
    type: FAILURE.throttled,
    message: code === null ? why : `${why} (${code})`,
    category: ApplicationFailureCategory.BENIGN,
    nextRetryDelay: afterMs,
  });
}

const HEARTBEAT_MS = 5_000;

/**
 * Does the work of an activity and lets Temporal know all the while that its worker lives.
 * @param details what a later attempt is to know of it, asked for at each heartbeat
 */
export async function withHeartbeat<T>(work: () => Promise<T>, details?: () => unknown): Promise<T> {
  const context = Context.current();
  const heartbeat = setInterval(() => context.heartbeat(details?.()), HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
  }
}

/** Shows that the work of an activity goes on, and ends it where its worker is to stop. */
export function beat(): void {
  const context = Context.current();
  context.cancellationSignal.throwIfAborted();
  context.heartbeat();
}

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

function retryWithin(error: unknown, ms: number, made: number): unknown {
  const failure = ensureApplicationFailure(error);
  const wanted = typeof failure.nextRetryDelay === 'number' ? failure.nextRetryDelay : usualPause(made);
  if (wanted <= ms || ms <= 0) return error;
  const { message, type, details, cause, category } = failure;
  return new ApplicationFailure(message, type, false, details, cause, ms, category);
}

/**
 * Does the same with each, one after the other: what fails with one keeps no other from its turn.
 * @param onFailure gets each failure as it comes; none where the worker is to stop, which ends all
 * @throws what failed first, once all were tried
 */
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
      beat();
      failed.push(error);
      onFailure?.(error, one);
    }
  }
  if (failed.length > 0) throw failed[0];
}
