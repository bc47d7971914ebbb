import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure, Context } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import { cancelMessageOfClosedAccount } from '../../db/accounts/accounts.ts';
import type { Database } from '../../db/connection.ts';
import { concludeSubmission } from '../../db/messages/answers.ts';
import { expireMessage, rejectBlacklisted, type StatusChange } from '../../db/messages/endings.ts';
import { leavePartsUnanswered } from '../../db/messages/parts.ts';
import { forgetPaused, pauseMessage } from '../../db/messages/pauses.ts';
import { withdrawResubmit } from '../../db/messages/unanswered.ts';
import { openSubmission, type SubmittableMessage } from '../../db/messages/submissions.ts';
import { withCode } from '../../operations/verify/code.ts';
import { addIds } from '../../telemetry/ids.ts';
import { observeSent } from '../../telemetry/messageMetrics.ts';
import { FAILURE, type SubmissionRound } from '../../workflows/contracts.ts';
import { unknownMessage } from '../failures.ts';
import { handleAnswer } from './answers.ts';
import { asEnd, asOutcome, type Submitted, type SubmitContext } from './storing.ts';
import { piecesOf, submitPiece } from './pieces.ts';

// A throttled message is retried here and keeps its position; only after this long it goes back to the queue.
const THROTTLED_DEADLINE_MS = 60_000;
// How often one attempt rereads a message that changes meanwhile.
const LOOKS_MAX = 3;

/**
 * Submits all parts of a message that were not submitted yet.
 * @param deadline epoch milliseconds: until then a throttled message is retried here
 * @param looks how often this attempt has read the message, this time included
 * @throws ApplicationFailure `Throttled` or `RouteUnavailable`, retryable; `UnknownMessage`, not retryable
 */
export async function submitMessage(
  submitting: SubmitContext,
  messageId: string,
  round: SubmissionRound,
  deadline = Date.now() + THROTTLED_DEADLINE_MS,
  looks = 1,
): Promise<Submitted> {
  const { sql, provider } = submitting;
  // The message has changed since it was read; if that goes on, leave it to a later attempt rather than loop.
  const lookAgain = (): Promise<Submitted> => {
    if (looks >= LOOKS_MAX) throw incomplete();
    return submitMessage(submitting, messageId, round, deadline, looks + 1);
  };
  const message = await openSubmission(sql, messageId);
  if (!message) throw unknownMessage(messageId);
  addIds({ accountId: message.accountId, requestId: message.requestId });
  const kept = await preSubmitCheck(submitting, message);
  if (kept === 'changed') return await lookAgain();
  if (kept !== null) return kept;

  const pieces = piecesOf(withCode(submitting.secretsKey, message), provider);
  if (message.submission === 'submitting') {
    // Left by an attempt that ended. Done here, as the provider may never get to claim the parts and find that.
    await leavePartsUnanswered(sql, { messageId, parts: pieces.flatMap(({ parts }) => parts) }, null);
  }
  let now: StatusChange = message;
  let unanswered = false;
  for (const piece of pieces) {
    const { claim, answer } = await submitPiece(submitting, message, piece);
    if (claim?.state === 'closed') return await lookAgain();
    if (claim?.state === 'unanswered') unanswered = true;
    if (answer === null) continue;
    const answered = await handleAnswer(submitting, { message, round, deadline }, piece, claim, answer);
    switch (answered.kind) {
      case 'accepted':
        submitting.retries.reset(message.accountId);
        now = answered.now;
        break;
      case 'unanswered':
        unanswered = true;
        break;
      case 'over':
        return answered.submitted;
      case 'throttled':
        // Read again: the recipient may have opted out, or the message expired.
        await delay(answered.retryAfterMs, undefined, { signal: Context.current().cancellationSignal });
        return await submitMessage(submitting, messageId, round, deadline);
    }
  }
  if (!unanswered && now.status !== 'queued') return asOutcome(now);
  return await conclude(sql, messageId);
}

/** Why a message is not to be submitted here and now; null: it is; `changed`: read it again. */
async function preSubmitCheck(
  { sql, provider }: SubmitContext,
  message: SubmittableMessage,
): Promise<Submitted | 'changed' | null> {
  const { id } = message;
  // An earlier attempt got this far and its result was lost: the workflow still has to deliver the events.
  if (message.status !== 'queued') return asOutcome(message);
  if (message.route !== provider.name) return { status: 'moved', route: message.route };
  // A message partly submitted is submitted to the end.
  if (message.accountStatus !== 'active' && message.submission === 'waiting') {
    return (await keepBack(sql, message)) ?? 'changed';
  }
  if (message.paused) await forgetPaused(sql, [id]);
  if (message.resubmitted && (message.accountStatus !== 'active' || message.blacklisted)) {
    await withdrawResubmit(sql, id);
    return await conclude(sql, id);
  }
  if (message.blacklisted) {
    const change = await rejectBlacklisted(sql, id);
    if (change.status !== 'queued') return asEnd(change);
  }
  if (message.giveUpAt.getTime() > Date.now()) return null;
  const end = await expireMessage(sql, id);
  if (end === null) throw unknownMessage(id);
  return asEnd(end);
}

/** Pauses a message of a suspended account, cancels and refunds one of a closed account. @returns null if that no longer holds */
async function keepBack(
  sql: Database,
  { id, accountStatus, events }: SubmittableMessage,
): Promise<Submitted | null> {
  if (accountStatus === 'closed') {
    return (await cancelMessageOfClosedAccount(sql, id)) ? asEnd({ status: 'cancelled', events }) : null;
  }
  return (await pauseMessage(sql, id)) ? { status: 'paused' } : null;
}

// Some parts are unanswered, or this attempt submitted none: the status results from all parts.
async function conclude(sql: Database, messageId: string): Promise<Submitted> {
  const concluded = await concludeSubmission(sql, messageId);
  observeSent(concluded.sentAfterSeconds);
  if (concluded.status === 'queued') throw incomplete();
  return asOutcome(concluded);
}

// The SMSC rejected a part late, or the route now takes whole messages and has only some parts.
function incomplete(): ApplicationFailure {
  return ApplicationFailure.create({
    type: FAILURE.routeUnavailable,
    message: 'the route has not taken all of it yet',
    category: ApplicationFailureCategory.BENIGN,
  });
}
