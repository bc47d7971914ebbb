import { ApplicationFailure } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
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

/** The same of a click. */
export function unknownClick(id: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`no click ${id}`, FAILURE.unknownClick);
}

/** The same of a further delivery of a webhook event: nobody has asked for it. */
export function unknownResend(eventId: string, round: number): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`no delivery ${round} of event ${eventId}`, FAILURE.unknownResend);
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
