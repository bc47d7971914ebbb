import { setTimeout as delay } from 'node:timers/promises';
import { Context, log } from '@temporalio/activity';
import type { StatusChange } from '../../db/messages/endings.ts';
import { countEnd } from '../../telemetry/messageMetrics.ts';
import type {
  MovedOn,
  PausedSubmission,
  SubmissionOutcome,
  SubmissionRound,
} from '../../workflows/contracts.ts';
import { type Database, type Sql, transaction } from '../../db/connection.ts';
import { holdParts, type PartClaim, type PartsOf } from '../../db/messages/parts.ts';
import { lockMessage, moveToRoute, type SubmittableMessage } from '../../db/messages/submissions.ts';
import { holdUnanswered } from '../../db/messages/unanswered.ts';
import type { RetryThrottle } from '../../concurrency/retryPace.ts';
import { type Routing, workingRoute } from '../../domain/routing.ts';
import { NO_SESSION, type SubmitAnswer, type Suspect } from '../../domain/submission.ts';
import type { Pacer } from '../../db/routes/pacing.ts';
import type { Provider } from '../../providers/provider.ts';
import { routeUnavailable, usualRetryDelay } from '../failures.ts';

export function asEnd(change: StatusChange): SubmissionOutcome {
  countEnd(change.status);
  return asOutcome(change);
}

export function asOutcome({ status, events }: StatusChange): SubmissionOutcome {
  return { status: status as SubmissionOutcome['status'], events };
}

/** The answer to a submit. @param claimed whether it got as far as its claim */
export async function answerOf<Answer>(
  submit: () => Promise<Answer>,
  claimed: () => boolean,
): Promise<Answer | { kind: 'unanswered' }> {
  try {
    return await submit();
  } catch (error) {
    // Not even claimed: nothing was sent.
    if (!claimed()) throw error;
    log.error('the provider broke in the middle of a submit', { error });
    // It may have sent it before it broke: only an answer proves that it did not.
    return { kind: 'unanswered' };
  }
}

const STORE_WITHIN_MS = 120_000;
const STORE_AGAIN_MS = 500;

/** Retries while the database is away: the provider's answer exists nowhere else, and without it the message counts as unanswered. */
export async function storeWithRetry<T>(store: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + STORE_WITHIN_MS;
  for (;;) {
    try {
      return await store();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      log.warn("the provider's answer could not be stored; tried again", { error });
      await delay(STORE_AGAIN_MS);
    }
  }
}

/** Puts back parts that certainly were not accepted. @returns false if they were marked unanswered meanwhile: the workflow is signalled */
export async function releaseClaim(
  sql: Database,
  some: PartsOf,
  claim: PartClaim | null,
  code: string | null,
): Promise<boolean> {
  if (claim?.state !== 'claimed') return true;
  const { at: claimedAt } = claim;
  const put = async (tx: Sql): Promise<boolean> => {
    await lockMessage(tx, some.messageId);
    if (await holdParts(tx, some, claimedAt, code)) return true;
    await holdUnanswered(tx, some, { claimedAt }, code);
    return false;
  };
  return await storeWithRetry(() => transaction(sql, put));
}

export type Submitted = SubmissionOutcome | MovedOn | PausedSubmission;

export interface SubmitContext {
  sql: Database;
  secretsKey: Buffer;
  provider: Provider;
  pacer: Pacer;
  routing: () => Promise<Routing>;
  /** Keys: accounts whose messages find no route to move to. */
  retries: RetryThrottle;
  /** Applies stored reports; called when a report came before its answer. */
  applyReports: () => Promise<void>;
  /** Gets each answer and the milliseconds it took. @param suspect for an e-mail: what may itself be to blame */
  onAnswer: (answer: SubmitAnswer, ms: number, suspect?: Suspect) => void;
}

// A moved message stays on a broken route for a while, longer each time: no ping-pong between two failing routes.
const MOVE_AGAIN_MS = 10_000;
const MOVE_AGAIN_MAX_MS = 3_600_000;

/** Moves the message, unless no other route works or this one has parts of it. @throws ApplicationFailure `RouteUnavailable` */
export async function moveOn(
  { sql, provider, routing, retries }: SubmitContext,
  message: SubmittableMessage,
  code: string,
  { moves }: SubmissionRound,
): Promise<MovedOn> {
  const now = await routing();
  const self = now.routes.find(({ name }) => name === provider.name);
  // A lost session is usually back before another route is worth it.
  const blip = code === NO_SESSION && self?.working === true && self.state !== 'disabled';
  if (!blip && hasRested(moves)) {
    const traffic = {
      key: message.id,
      msisdn: message.recipient,
      accountId: message.accountId,
      type: message.channel,
      priority: message.priority,
      parts: message.parts,
    };
    const next = workingRoute(now, traffic, (name) => name !== provider.name);
    if (next !== null && (await moveToRoute(sql, message.id, provider.name, next))) {
      return { status: 'moved', route: next };
    }
  }
  const usualMs = usualRetryDelay(Context.current().info.attempt);
  throw routeUnavailable(provider.name, code, retries.delayFor(message.accountId, usualMs));
}

function hasRested(moves: number): boolean {
  if (moves === 0) return true;
  const here = Date.now() - Context.current().info.scheduledTimestampMs;
  return here >= Math.min(MOVE_AGAIN_MS * 2 ** (moves - 1), MOVE_AGAIN_MAX_MS);
}
