import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure, Context, log } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import type { Provider, Withheld } from '../providers/provider.ts';
import { cancelOneOfClosed } from '../db/accounts/closings.ts';
import type { Database } from '../db/connection.ts';
import { partReference, WHOLE } from '../db/incoming/receipts.ts';
import { acceptParts, concludeSubmission } from '../db/messages/answers.ts';
import {
  expireMessage,
  failSubmission,
  rejectBlacklisted,
  type StatusChange,
} from '../db/messages/endings.ts';
import {
  claimParts,
  holdParts,
  leavePartsUnanswered,
  type PartClaim,
  type PartsOf,
} from '../db/messages/parts.ts';
import { holdUnanswered } from '../db/messages/unanswered.ts';
import { forgetPaused, pauseMessage } from '../db/messages/paused.ts';
import { moveToRoute, openSubmission, type SubmittableMessage } from '../db/messages/submissions.ts';
import { splitIntoParts } from '../domain/parts.ts';
import { orderRoutes, type Routing } from '../domain/routing.ts';
import { NO_SESSION, type SubmitAnswer, type SubmitPart } from '../domain/submission.ts';
import {
  FAILURE,
  type MovedOn,
  type PausedSubmission,
  type SubmissionOutcome,
  type SubmissionRound,
  type Notified,
} from '../workflows/contracts.ts';
import { countEnd, observeSent, observeSubmit } from '../telemetry/messageMetrics.ts';
import { addIds } from '../telemetry/ids.ts';
import { unknownMessage } from './failures.ts';
import { withHeartbeat } from './heartbeat.ts';
import type { Pacer } from '../pipeline/pacing.ts';

const STORE_WITHIN_MS = 120_000;
const STORE_AGAIN_MS = 500;
// A throttled part keeps its place: it is tried again here, and goes behind the others only after this long.
const THROTTLED_PATIENCE_MS = 60_000;
// How often one attempt looks at a message that changes under its hands.
const LOOKS_MAX = 3;
// A message that moved before stays on a broken route for a while, longer each time: two broken ones do not play ball.
const MOVE_AGAIN_MS = 10_000;
const MOVE_AGAIN_MAX_MS = 3_600_000;

type Submitted = SubmissionOutcome | MovedOn | PausedSubmission;

/** What submitting on one route needs. */
export interface Submitting {
  sql: Database;
  provider: Provider;
  pacer: Pacer;
  routing: () => Promise<Routing>;
  /** Applies stored reports; called when one came before its answer. */
  applyReports: () => Promise<void>;
  /** Notified how every submit was answered, and after how many milliseconds. */
  onAnswer: (answer: SubmitAnswer, ms: number) => void;
}

/** Handing messages to one route; run on that route's task queue. */
export function submissionActivities(submitting: Submitting) {
  return {
    /**
     * Submits all parts of a message that were not submitted before. A part whose earlier submit has no stored
     * answer is never submitted again: the message is `unanswered` then.
     * @throws ApplicationFailure `Throttled` or `RouteUnavailable`, to be tried again
     */
    async submit(messageId: string, round: SubmissionRound = { moves: 0 }): Promise<Submitted> {
      return await withHeartbeat(() => submitMessage(submitting, messageId, round));
    },
  };
}

/** What submitting at once needs to know of a route in this process. */
export interface RouteAtHand {
  submitting: Submitting;
  /** Takes a place where it can submit without waiting; null where it cannot. */
  enter(): (() => void) | null;
}

/**
 * Submitting within a workflow task; run where workflows run. Only where nothing would be waited for: whatever has to wait
 * for the route's rate, its window or its sessions waits in its queue, by priority and taking turns among accounts.
 * @param routeAtHand the route of that name, where this process has it open
 * @param notify makes the first attempts at webhook events, as far as that goes
 */
export function quickSubmissionActivities(
  routeAtHand: (name: string) => RouteAtHand | undefined,
  notify: (events: readonly string[]) => Promise<Notified>,
) {
  return {
    /** As `submit`, and tells what came of it; null when the message is to go through the route's queue. */
    async submitInTask(messageId: string, route: string): Promise<Submitted | null> {
      const outcome = await submitHere(routeAtHand(route), messageId);
      if (outcome === null || outcome.status === 'moved' || outcome.status === 'paused') return outcome;
      try {
        return { ...outcome, notified: await notify(outcome.events) };
      } catch (error) {
        // Notified by the workflow then: the outcome of a submit is not to be lost with it.
        log.warn('the receiver of what came of a submit could not be notified at once', { error });
        return outcome;
      }
    },
  };
}

async function submitHere(route: RouteAtHand | undefined, messageId: string): Promise<Submitted | null> {
  const leave = route?.enter() ?? null;
  if (!route || !leave) return null;
  try {
    return await submitMessage(route.submitting, messageId, { moves: 0 }, Date.now());
  } catch (error) {
    // To be tried again, says the failure: the route's queue does that.
    if (error instanceof ApplicationFailure) return null;
    throw error;
  } finally {
    leave();
  }
}

/** What leaves in one submit. */
interface Piece {
  /** All of them where the provider takes messages whole. */
  parts: number[];
  submit: SubmitPart;
}

async function submitMessage(
  submitting: Submitting,
  messageId: string,
  round: SubmissionRound,
  patience = Date.now() + THROTTLED_PATIENCE_MS,
  looks = 1,
): Promise<Submitted> {
  const { sql, provider, pacer, applyReports } = submitting;
  // What was read of it is no longer so; where that goes on, a later attempt looks, not this one in a loop.
  const lookAgain = (): Promise<Submitted> => {
    if (looks >= LOOKS_MAX) throw incomplete();
    return submitMessage(submitting, messageId, round, patience, looks + 1);
  };
  const message = await openSubmission(sql, messageId);
  if (!message) throw unknownMessage(messageId);
  addIds({ accountId: message.accountId, requestId: message.requestId });
  // An earlier attempt came this far and its result was lost: the workflow has still to tell of its events.
  if (message.status !== 'queued') return asOutcome(message);
  if (message.route !== provider.name) return { status: 'moved', route: message.route };
  // What a network has some of goes out as a whole.
  if (message.accountStatus !== 'active' && message.submission === 'waiting') {
    const kept = await keepBack(sql, message);
    return kept ?? (await lookAgain());
  }
  if (message.paused) await forgetPaused(sql, [messageId]);
  if (message.blacklisted) {
    const status = await rejectBlacklisted(sql, messageId);
    countEnd(status);
    if (status !== 'queued') return asOutcome({ status, events: message.events });
  }
  if (message.giveUpAt.getTime() <= Date.now()) {
    const end = await expireMessage(sql, messageId);
    if (end === null) throw unknownMessage(messageId);
    return asEnd(end);
  }

  const pieces = piecesOf(message, provider);
  if (message.submission === 'submitting') {
    // An attempt that ended has left its part so. The provider may not come as far as to find that.
    await leavePartsUnanswered(sql, { messageId, parts: pieces.flatMap(({ parts }) => parts) }, null);
  }
  let now: StatusChange = message;
  let unanswered = false;
  for (const piece of pieces) {
    const { claim, answer } = await submitPiece(submitting, message, piece);
    if (claim?.state === 'closed') return lookAgain();
    if (claim?.state === 'unanswered') unanswered = true;
    if (answer === null) continue;

    const some = { messageId, parts: piece.parts };
    const code = 'code' in answer ? (answer.code ?? null) : null;
    switch (answer.kind) {
      case 'accepted': {
        const stored = await untilStored(() => acceptParts(sql, some, answer.providerMessageId));
        observeSent(stored.sentAfterSeconds);
        if (stored.reported) await applyReports();
        now = stored;
        break;
      }
      case 'refused':
        return asEnd(await untilStored(() => failSubmission(sql, some, answer.reason, code)));
      case 'unanswered':
        await leavePartsUnanswered(sql, some, code);
        unanswered = true;
        break;
      case 'broken':
        await putBack(sql, some, claim, code);
        return await moveOn(submitting, message, answer.code, round);
      case 'throttled': {
        // Others may try too soon without it; what became of this part must be stored whatever comes of it.
        const pausing = pacer.pause(answer.retryAfterMs).catch((error: unknown) => {
          log.warn('the route could not be paused for the other workers', { error });
        });
        const ours = await putBack(sql, some, claim, code);
        await pausing;
        if (!ours || Date.now() + answer.retryAfterMs > patience) throw tryLater(answer);
        // Read anew afterwards: its recipient may have opted out, its time may be over.
        await delay(answer.retryAfterMs, undefined, { signal: Context.current().cancellationSignal });
        return submitMessage(submitting, messageId, round, patience);
      }
      case 'later':
        await putBack(sql, some, claim, code);
        throw tryLater(answer);
    }
  }
  if (!unanswered && now.status !== 'queued') return asOutcome(now);
  const concluded = await concludeSubmission(sql, messageId);
  observeSent(concluded.sentAfterSeconds);
  if (concluded.status === 'queued') throw incomplete();
  return asOutcome(concluded);
}

/**
 * The account may not send: suspended, the message waits for it; closed, it is cancelled and refunded.
 * @returns null where that is no longer so
 */
async function keepBack(
  sql: Database,
  { id, accountStatus, events }: SubmittableMessage,
): Promise<Submitted | null> {
  if (accountStatus === 'closed') {
    return (await cancelOneOfClosed(sql, id)) ? asEnd({ status: 'cancelled', events }) : null;
  }
  return (await pauseMessage(sql, id)) ? { status: 'paused' } : null;
}

function piecesOf(message: SubmittableMessage, provider: Provider): Piece[] {
  const { encoding, parts } = splitIntoParts(message.text);
  const common = {
    destination: message.recipient,
    sender: message.sender,
    encoding,
    parts: parts.length,
    concatReference: message.concatReference,
    priority: message.priority,
    expiresAt: message.giveUpAt,
  };
  const numbers = parts.map((_, index) => index + 1);
  if (provider.takesWhole) {
    const reference = partReference(message.id, WHOLE);
    return [{ parts: numbers, submit: { ...common, reference, text: message.text, part: 1 } }];
  }
  return parts.map((text, index) => ({
    parts: [index + 1],
    submit: { ...common, reference: partReference(message.id, index + 1), text, part: index + 1 },
  }));
}

/**
 * Submits one piece.
 * @returns how its parts were found (null: the provider never came so far), and the answer, where it was submitted
 */
async function submitPiece(
  { sql, provider, pacer, onAnswer }: Submitting,
  message: SubmittableMessage,
  piece: Piece,
): Promise<{ claim: PartClaim | null; answer: SubmitAnswer | null }> {
  const signal = Context.current().cancellationSignal;
  let claim: PartClaim | null = null;
  let left = performance.now();
  const some = { messageId: message.id, parts: piece.parts, route: provider.name };
  const steps = {
    async prepare() {
      claim = await claimParts(sql, some);
      return claim.state === 'claimed';
    },
    async undo() {
      await putBack(sql, some, claim, null);
      claim = null;
    },
  };
  const leave = async () => {
    const leaves = await pacer.turn(piece.parts.length, steps, signal);
    left = performance.now();
    return leaves;
  };
  const answer = await handOver(provider, piece.submit, leave, () => claim !== null);
  if (answer.kind === 'withheld') return { claim, answer: null };
  const ms = performance.now() - left;
  onAnswer(answer, ms);
  observeSubmit(provider.name, answer.kind, ms / 1000);
  return { claim, answer };
}

/**
 * Puts parts back that were claimed and certainly not taken.
 * @returns false when another attempt has given this one up meanwhile: the workflow, which would wait for a report, is told
 */
async function putBack(
  sql: Database,
  some: PartsOf,
  claim: PartClaim | null,
  code: string | null,
): Promise<boolean> {
  if (claim?.state !== 'claimed') return true;
  const { at: claimedAt } = claim;
  return await untilStored(async () => {
    if (await holdParts(sql, some, claimedAt, code)) return true;
    await holdUnanswered(sql, some, { claimedAt }, code);
    return false;
  });
}

async function handOver(
  provider: Provider,
  part: SubmitPart,
  leave: () => Promise<boolean>,
  claimed: () => boolean,
): Promise<SubmitAnswer | Withheld> {
  try {
    return await provider.submit(part, leave);
  } catch (error) {
    // What was not even claimed has not left.
    if (!claimed()) throw error;
    log.error('the provider broke in the middle of a submit', { error });
    // A provider that breaks in the middle may have sent the part: only an answer proves that it did not.
    return { kind: 'unanswered' };
  }
}

/** The route does not work: the next one gets the message, unless none works or this one has some of it already. */
async function moveOn(
  { sql, provider, routing }: Submitting,
  message: SubmittableMessage,
  code: string,
  { moves }: SubmissionRound,
): Promise<MovedOn> {
  const now = await routing();
  const self = now.routes.find(({ name }) => name === provider.name);
  // Without a session for a moment only: it will be back before another route is worth it.
  const blip = code === NO_SESSION && self?.working === true && self.state !== 'disabled';
  if (!blip && hasRested(moves)) {
    const next = orderRoutes(now, {
      ...{ key: message.id, msisdn: message.recipient, accountId: message.accountId },
      ...{ type: 'sms', priority: message.priority },
    }).find(
      (name) => name !== provider.name && now.routes.some((route) => route.name === name && route.working),
    );
    if (next !== undefined && (await moveToRoute(sql, message.id, provider.name, next))) {
      return { status: 'moved', route: next };
    }
  }
  throw ApplicationFailure.create({
    type: FAILURE.routeUnavailable,
    message: `the route ${provider.name} does not work: ${code}`,
    category: ApplicationFailureCategory.BENIGN,
  });
}

function hasRested(moves: number): boolean {
  if (moves === 0) return true;
  const here = Date.now() - Context.current().info.scheduledTimestampMs;
  return here >= Math.min(MOVE_AGAIN_MS * 2 ** (moves - 1), MOVE_AGAIN_MAX_MS);
}

/**
 * Repeats storing the provider's answer while the database is away. The answer exists nowhere else: without it the
 * message would have to count as unanswered.
 */
async function untilStored<T>(store: () => Promise<T>): Promise<T> {
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

function tryLater({
  kind,
  retryAfterMs,
  code,
}: SubmitAnswer & { kind: 'throttled' | 'later' }): ApplicationFailure {
  return ApplicationFailure.create({
    type: FAILURE.throttled,
    message: `${kind === 'throttled' ? 'the SMSC throttles' : 'the SMSC asks to try later'}${code === undefined ? '' : ` (${code})`}`,
    category: ApplicationFailureCategory.BENIGN,
    nextRetryDelay: retryAfterMs,
  });
}

// The SMSC said late that it has not taken a part, or the route takes messages whole now and has some parts of it.
function incomplete(): ApplicationFailure {
  return ApplicationFailure.create({
    type: FAILURE.routeUnavailable,
    message: 'the route has not taken all of it yet',
    category: ApplicationFailureCategory.BENIGN,
  });
}

function asEnd(change: StatusChange): SubmissionOutcome {
  countEnd(change.status);
  return asOutcome(change);
}

function asOutcome({ status, events }: StatusChange): SubmissionOutcome {
  return { status: status as SubmissionOutcome['status'], events };
}
