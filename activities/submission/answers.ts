import { type ApplicationFailure, log } from '@temporalio/activity';
import { acceptParts } from '../../db/messages/answers.ts';
import { failSubmission, type StatusChange } from '../../db/messages/endings.ts';
import { leavePartsUnanswered, type PartClaim, type PartsOf } from '../../db/messages/parts.ts';
import type { SubmittableMessage } from '../../db/messages/submissions.ts';
import type { SubmitAnswer } from '../../domain/submission.ts';
import { observeSent } from '../../telemetry/messageMetrics.ts';
import type { SubmissionRound } from '../../workflows/contracts.ts';
import { throttled } from '../failures.ts';
import {
  asEnd,
  moveOn,
  releaseClaim,
  type Submitted,
  type SubmitContext,
  storeWithRetry,
} from './storing.ts';
import type { Piece } from './pieces.ts';

export type Answered =
  | { kind: 'accepted'; now: StatusChange }
  | { kind: 'unanswered' }
  | { kind: 'over'; submitted: Submitted }
  | { kind: 'throttled'; retryAfterMs: number };

interface Attempt {
  message: SubmittableMessage;
  round: SubmissionRound;
  /** Epoch milliseconds; until then a throttled message is retried by this attempt. */
  deadline: number;
}

/** Stores the answer to a piece and its consequences. @throws ApplicationFailure `Throttled` or `RouteUnavailable`, retryable */
export async function handleAnswer(
  submitting: SubmitContext,
  { message, round, deadline }: Attempt,
  { parts }: Piece,
  claim: PartClaim | null,
  answer: SubmitAnswer,
): Promise<Answered> {
  const { sql, applyReports } = submitting;
  const some = { messageId: message.id, parts };
  const code = 'code' in answer ? (answer.code ?? null) : null;
  switch (answer.kind) {
    case 'accepted': {
      const stored = await storeWithRetry(() => acceptParts(sql, some, answer.providerMessageId));
      observeSent(stored.sentAfterSeconds);
      if (stored.reported) await applyReports();
      return { kind: 'accepted', now: stored };
    }
    case 'refused': {
      const claimedAt = claim?.state === 'claimed' ? claim.at : null;
      const end = await storeWithRetry(() => failSubmission(sql, some, answer.reason, code, claimedAt));
      // Marked unanswered meanwhile, and submitted again by another attempt.
      if (end.status === 'queued') return { kind: 'unanswered' };
      return { kind: 'over', submitted: asEnd(end) };
    }
    case 'unanswered':
      await leavePartsUnanswered(sql, some, code);
      return { kind: 'unanswered' };
    case 'broken':
      await releaseClaim(sql, some, claim, code);
      return { kind: 'over', submitted: await moveOn(submitting, message, answer.code, round) };
    case 'throttled': {
      const ours = await pauseRoute(submitting, some, claim, answer);
      if (!ours || Date.now() + answer.retryAfterMs > deadline) throw tryLater(answer);
      return { kind: 'throttled', retryAfterMs: answer.retryAfterMs };
    }
    case 'later':
      await releaseClaim(sql, some, claim, code);
      throw tryLater(answer);
  }
}

/** Puts parts back and pauses the route: for all workers if it has a rate, else for this one. @returns false if the claim was lost */
async function pauseRoute(
  { sql, pacer }: SubmitContext,
  some: PartsOf,
  claim: PartClaim | null,
  { retryAfterMs, code }: SubmitAnswer & { kind: 'throttled' },
): Promise<boolean> {
  // Without it other workers only retry too early; the parts' state must be stored in any case.
  const pausing = pacer.pause(retryAfterMs).catch((error: unknown) => {
    log.warn('the route could not be paused for the other workers', { error });
  });
  const ours = await releaseClaim(sql, some, claim, code ?? null);
  await pausing;
  return ours;
}

function tryLater({
  kind,
  retryAfterMs,
  code,
}: SubmitAnswer & { kind: 'throttled' | 'later' }): ApplicationFailure {
  const why = kind === 'throttled' ? 'the SMSC throttles' : 'the SMSC asks to try later';
  return throttled(why, retryAfterMs, code ?? null);
}
