import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure, Context, log } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import type { Carrier } from '../carriers/carrier.ts';
import type { SubmitAnswer } from '../domain/submission.ts';
import type { Database } from '../db/connection.ts';
import { partReference } from '../db/receipts.ts';
import {
  acceptPart,
  claimPart,
  expireMessage,
  failSubmission,
  holdPart,
  leavePartUnanswered,
  markUnanswered,
  openSubmission,
  rejectBlacklisted,
  releaseScheduled,
  type StatusChange,
  type SubmittableMessage,
} from '../db/submissions.ts';
import { type Encoding, splitIntoParts } from '../domain/parts.ts';
import { FAILURE, type SubmissionOutcome } from '../workflows/contracts.ts';

const HEARTBEAT_MS = 5_000;
const UNAVAILABLE_RETRY_MS = 2_000;
const STORE_WITHIN_MS = 120_000;
const STORE_AGAIN_MS = 500;

/** Handing messages to one carrier; run on that carrier's task queue. */
export function submissionActivities(sql: Database, carrier: Carrier, applyReports: () => Promise<void>) {
  return {
    /**
     * Submits all parts of a message that were not submitted before. A part whose earlier submit has no stored
     * answer is never submitted again: the message is `unanswered` then.
     * @throws ApplicationFailure `Throttled` or `CarrierUnavailable` with the delay after which to try again
     */
    async submit(messageId: string): Promise<SubmissionOutcome> {
      const context = Context.current();
      const heartbeat = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
      try {
        return await submitMessage(sql, carrier, messageId, applyReports);
      } finally {
        clearInterval(heartbeat);
      }
    },
  };
}

/** What the workflow's timers bring about: the send time, and the end of delivery attempts. */
export function timeActivities(sql: Database) {
  return {
    /** `scheduled` becomes `queued`; returns what the message is now. */
    release: (messageId: string): Promise<string> => releaseScheduled(sql, messageId),

    /** `queued` or `sent` becomes `expired`; returns what the message is now. */
    async expire(messageId: string): Promise<SubmissionOutcome> {
      return asOutcome(await expireMessage(sql, messageId));
    },
  };
}

async function submitMessage(
  sql: Database,
  carrier: Carrier,
  messageId: string,
  applyReports: () => Promise<void>,
): Promise<SubmissionOutcome> {
  const message = await openSubmission(sql, messageId);
  if (!message) throw ApplicationFailure.nonRetryable(`no accepted message ${messageId}`);
  // An earlier attempt came this far and its result was lost: the workflow has still to tell of its events.
  if (message.status !== 'queued') return asOutcome(message);
  if (message.blacklisted) {
    const status = await rejectBlacklisted(sql, messageId);
    if (status !== 'queued') return asOutcome({ status, events: message.events });
  }
  if (message.giveUpAt.getTime() <= Date.now()) return asOutcome(await expireMessage(sql, messageId));

  const { encoding, parts } = splitIntoParts(message.text);
  let now: StatusChange = message;
  let unanswered = false;
  for (const [index, text] of parts.entries()) {
    const part = index + 1;
    const claim = await claimPart(sql, messageId, part, carrier.name);
    if (claim === 'closed') return submitMessage(sql, carrier, messageId, applyReports);
    if (claim === 'unanswered') unanswered = true;
    if (claim !== 'claimed') continue;

    const answer = await submitPart(carrier, message, { encoding, text, part, parts: parts.length });
    if (answer.kind === 'refused') {
      return asOutcome(await untilStored(() => failSubmission(sql, messageId, part, answer.code)));
    }
    if (answer.kind === 'throttled' || answer.kind === 'unavailable') {
      await untilStored(() => holdPart(sql, messageId, part));
      throw tryLater(answer);
    }
    if (answer.kind === 'unanswered') {
      await leavePartUnanswered(sql, messageId, part);
      unanswered = true;
      continue;
    }
    const stored = await untilStored(() => acceptPart(sql, messageId, part, answer.carrierMessageId));
    if (stored.reported) await applyReports();
    now = stored;
  }
  if (!unanswered) return asOutcome(now);
  await markUnanswered(sql, messageId);
  return { status: 'unanswered', events: now.events };
}

/**
 * Repeats storing the carrier's answer while the database is away. The answer exists nowhere else: without it the
 * message would have to count as unanswered.
 */
async function untilStored<T>(store: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + STORE_WITHIN_MS;
  for (;;) {
    try {
      return await store();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      log.warn("the carrier's answer could not be stored; tried again", { error });
      await delay(STORE_AGAIN_MS);
    }
  }
}

async function submitPart(
  carrier: Carrier,
  message: SubmittableMessage,
  cut: { encoding: Encoding; text: string; part: number; parts: number },
): Promise<SubmitAnswer> {
  try {
    return await carrier.submit({
      ...cut,
      reference: partReference(message.id, cut.part),
      destination: message.recipient,
      sender: message.sender,
      priority: message.priority,
      expiresAt: message.giveUpAt,
    });
  } catch (error) {
    log.error('the carrier broke in the middle of a submit', { error });
    // A carrier that breaks in the middle may have sent the part: only an answer proves that it did not.
    return { kind: 'unanswered' };
  }
}

function tryLater(answer: SubmitAnswer & { kind: 'throttled' | 'unavailable' }): ApplicationFailure {
  return answer.kind === 'throttled'
    ? ApplicationFailure.create({
        type: FAILURE.throttled,
        message: 'the carrier throttles',
        category: ApplicationFailureCategory.BENIGN,
        nextRetryDelay: answer.retryAfterMs,
      })
    : ApplicationFailure.create({
        type: FAILURE.carrierUnavailable,
        message: `the carrier cannot be reached: ${answer.reason}`,
        nextRetryDelay: UNAVAILABLE_RETRY_MS,
      });
}

function asOutcome({ status, events }: StatusChange): SubmissionOutcome {
  return { status: status as SubmissionOutcome['status'], events };
}
