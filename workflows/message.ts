import {
  allHandlersFinished,
  CancellationScope,
  CancelledFailure,
  condition,
  isCancellation,
  log,
  proxyActivities,
  setCurrentDetails,
  sleep,
} from '@temporalio/workflow';
import {
  type MessageInput,
  type MessageOutcome,
  type MovedOn,
  type PausedSubmission,
  routeQueue,
  type SubmissionOutcome,
} from './contracts.ts';
import {
  cancelMessage,
  local,
  type MessageState,
  newState,
  show,
  submitInTask,
  registerHandlers,
  setRoute,
  until,
  within,
} from './messageState.ts';
import type { submissionActivities } from '../activities/submission.ts';
import { deliverEvents } from './webhooks.ts';

/** One message, its id the workflow id: charge, wait for the send time, submit, wait for the delivery report, notify the webhook. */
export async function message(input: MessageInput): Promise<{ status: string }> {
  const state = newState(input);
  registerHandlers(state);
  const root = CancellationScope.current();
  // No cancellation interrupts a step that moves money or a message.
  const status = await CancellationScope.nonCancellable(async () => {
    const final = await fromChargeToEnd(state);
    // A cancel that came too late is refused.
    state.cancelStatus ??= final;
    await condition(allHandlersFinished);
    return final;
  });
  if (root.consideredCancelled && status === 'cancelled')
    throw new CancelledFailure('cancelled and refunded');
  return { status };
}

/** Follows the transitions of `domain/statuses.ts` (v2.3.0, States and transitions). */
async function fromChargeToEnd(state: MessageState): Promise<string> {
  await local.charge(state.id);
  // scheduled → queued; or cancelled, expired
  let outcome = await scheduled(state);
  // queued → sent, or submitted and unanswered; or failed, rejected, expired, cancelled
  outcome ??= await queued(state);
  // sent → delivered, undelivered, failed, expired; unanswered → the same, sent, or submitted again
  while (isFollowed(outcome)) outcome = await sent(state, outcome);
  return await end(state, outcome);
}

async function end(state: MessageState, outcome: SubmissionOutcome): Promise<string> {
  const { status } = outcome;
  await notify(state, outcome);
  const cancelled = state.cancelStatus === 'cancelled' ? 'Cancelled and refunded.' : 'Cancelled.';
  setCurrentDetails(status === 'cancelled' ? cancelled : `Ended: ${status}.`);
  show(state, status);
  return status;
}

/** Waits for a suspended account, unless woken since `seen`. @returns null: ask the database again; else how the message has ended */
async function pause(state: MessageState, seen: number): Promise<SubmissionOutcome | null> {
  const { id, input } = state;
  setCurrentDetails(
    `Paused: its account is suspended. It goes when that is active again, until ${until(state)}.`,
  );
  show(state, 'paused');
  const woken = await within(
    input.giveUpAt - Date.now(),
    'waits for its account',
    () => state.wakeCount > seen,
  );
  if (!woken) return await local.expire(id);
  if (!state.cancelRequested) return null;
  return (await cancelMessage(id)).end;
}

/** Waits for the send time or a cancel. @returns null: queued; else how the message has ended without a submit */
async function scheduled(state: MessageState): Promise<SubmissionOutcome | null> {
  const { id, input } = state;
  if (input.sendAt === null) return null;
  setCurrentDetails(`Scheduled: waits for its send time, ${new Date(input.sendAt).toISOString()}.`);
  await within(input.sendAt - Date.now(), 'waits for the send time', () => state.cancelRequested);
  if (state.cancelRequested) {
    const { status, end } = await cancelMessage(id);
    state.cancelStatus = status;
    if (end !== null) return end;
  }
  state.submitting = true;
  return await release(state);
}

async function release(state: MessageState): Promise<SubmissionOutcome | null> {
  for (;;) {
    const seen = state.wakeCount;
    const released = await local.release(state.id);
    if (released.cancelled) return { status: 'cancelled', events: [] };
    if (!released.paused) {
      setRoute(state, released.route ?? state.route);
      return null;
    }
    const over = await pause(state, seen);
    if (over !== null) return over;
  }
}

type Submitted = SubmissionOutcome | MovedOn | PausedSubmission;

/** Submits, moving between routes and pausing as needed. @returns how it was answered, or how it has ended without a submit */
async function queued(state: MessageState): Promise<SubmissionOutcome> {
  for (;;) {
    const seen = state.wakeCount;
    const outcome = await submit(state);
    if (outcome.status === 'paused') {
      const over = await pause(state, seen);
      if (over !== null) return over;
    } else if (outcome.status === 'moved') {
      state.moves += 1;
      setRoute(state, outcome.route);
    } else return outcome;
  }
}

async function submit(state: MessageState): Promise<Submitted> {
  const { id, input, route } = state;
  if (Date.now() >= input.giveUpAt) return await local.expire(id);
  setCurrentDetails(`Queued: waits for the route ${route} to take it.`);
  const throughQueue = routeSubmit(state);
  try {
    return await CancellationScope.cancellable(async () => {
      state.submission = CancellationScope.current();
      const done = await submitHere(state);
      if (done !== null) return done;
      show(state, 'queued');
      return await throughQueue(id, { moves: state.moves });
    });
  } catch (error) {
    if (!isCancellation(error)) {
      const { accountId, requestId } = input;
      log.warn('submission ended without a result', { error, accountId, requestId });
    }
    return await local.expire(id);
  } finally {
    state.submission = undefined;
  }
}

// Retried while the message is valid: an attempt submits only what certainly was not accepted. The heartbeat detects a lost worker early.
function routeSubmit({ input, route }: MessageState) {
  return proxyActivities<ReturnType<typeof submissionActivities>>({
    taskQueue: routeQueue(route),
    startToCloseTimeout: '10m',
    heartbeatTimeout: '15s',
    scheduleToCloseTimeout: input.giveUpAt - Date.now(),
    retry: { initialInterval: '1s', maximumInterval: '60s' },
    summary: `submits to ${route}`,
  }).submit;
}

/** Submits within the workflow task if the route can without waiting; null: through the route's queue. */
async function submitHere(state: MessageState): Promise<Submitted | null> {
  const { id, moves, route } = state;
  if (moves > 0) return null;
  try {
    return await submitInTask(id, route);
  } catch (error) {
    // Only a cancel gives the message up; any other failure, such as a worker's shutdown, leaves it to the queue.
    if (CancellationScope.current().consideredCancelled) throw error;
    return null;
  }
}

// Most reports arrive sooner: the search attribute is for messages that wait longer.
const SHOW_SENT_AFTER_MS = 60_000;

const OUTCOME_TIMEOUT_MS = 60_000;

// Back-off for an SMSC that rejects the same message late again and again.
const HELD_REST_MS = 1_000;
const HELD_REST_MAX_MS = 600_000;

type Waiting = 'sent' | 'unanswered';

type Followed = SubmissionOutcome & { status: Waiting };

function isFollowed(outcome: SubmissionOutcome): outcome is Followed {
  return outcome.status === 'sent' || outcome.status === 'unanswered';
}

/** Notifies the webhook and waits for the delivery report; submits again if the SMSC rejects late. @returns the next outcome */
async function sent(state: MessageState, outcome: Followed): Promise<SubmissionOutcome> {
  const { status } = outcome;
  state.unanswered = status === 'unanswered';
  describe(state, status);
  await notify(state, outcome);
  const next = await nextOutcome(state, status);
  // Still unanswered during the pause: staff may decide on other parts.
  if (next.status === 'held' && status === 'unanswered') await restAfterHeld(state);
  state.unanswered = false;
  return next.status === 'held' ? await queued(state) : { ...next, status: next.status };
}

function describe(state: MessageState, status: Waiting): void {
  const { route } = state;
  if (status === 'sent') {
    setCurrentDetails(
      `Sent: the route ${route} has it; waits for the delivery report until ${until(state)}.`,
    );
    return;
  }
  setCurrentDetails(
    `Unanswered: nobody knows whether the route ${route} has it, so it is not sent again; ` +
      `waits for a delivery report until ${until(state)}.`,
  );
  show(state, status);
}

/** The next outcome; expires the message at the end of the wait. */
async function nextOutcome(
  state: MessageState,
  status: Waiting,
): Promise<SubmissionOutcome | MessageOutcome> {
  const { id, input, outcomes } = state;
  if (state.shown !== status && !(await outcomeWithin(state, SHOW_SENT_AFTER_MS))) show(state, status);
  if (!(await outcomeWithin(state, input.giveUpAt - Date.now()))) {
    const over = await local.expire(id);
    if (over.status === 'expired') return over;
    // Delivery reports won the race in the database, and their outcome is on its way, unless it arrived before the moment that Temporal
    // was restored to, and is not repeated.
    if (!(await condition(() => outcomes.length > 0, OUTCOME_TIMEOUT_MS))) return over;
  }
  return outcomes.shift()!;
}

async function outcomeWithin({ input, outcomes }: MessageState, ms: number): Promise<boolean> {
  const came = (): boolean => outcomes.length > 0;
  if (came()) return true;
  return await within(Math.min(ms, input.giveUpAt - Date.now()), 'waits for the delivery report', came);
}

async function restAfterHeld(state: MessageState): Promise<void> {
  const { outcomes } = state;
  while (outcomes[0]?.status === 'held') outcomes.shift();
  if (state.heldLate > 0) await sleep(Math.min(HELD_REST_MS * 2 ** (state.heldLate - 1), HELD_REST_MAX_MS));
  state.heldLate += 1;
}

// Several outcomes may name the same event: it is delivered once.
async function notify({ notified }: MessageState, { events }: SubmissionOutcome): Promise<void> {
  const left = events.filter((event) => !notified.has(event));
  for (const event of left) notified.add(event);
  await deliverEvents(left);
}
