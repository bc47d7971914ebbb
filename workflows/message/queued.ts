import {
  CancellationScope,
  isCancellation,
  log,
  proxyActivities,
  setCurrentDetails,
} from '@temporalio/workflow';
import type { submissionActivities } from '../../activities/submission.ts';
import { type MovedOn, type PausedSubmission, routeQueue, type SubmissionOutcome } from '../contracts.ts';
import { local, submitInTask } from './local.ts';
import { pause } from './pause.ts';
import { type MessageState, show, takeRoute } from './state.ts';

type Submitted = SubmissionOutcome | MovedOn | PausedSubmission;

/**
 * A queued message: is submitted, by another route where its own cannot, and when its account is active.
 * @returns what the provider said of it, `unanswered` where it said nothing, or how the message has ended without that
 */
export async function queued(state: MessageState): Promise<SubmissionOutcome> {
  for (;;) {
    const seen = state.wakes;
    const outcome = await submit(state);
    if (outcome.status === 'paused') {
      const over = await pause(state, seen);
      if (over !== null) return over;
    } else if (outcome.status === 'moved') {
      state.moves += 1;
      takeRoute(state, outcome.route);
    } else return outcome;
  }
}

/** Submits by the message's route. */
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

/**
 * The submit of the route's own queue. Retried for as long as the message may be delivered: a repeated attempt submits only
 * what certainly was not taken. The heartbeat finds a lost worker sooner than the time-out would.
 */
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

/** By whoever has the workflow, where the route can take it without waiting. Null: it is to go through the route's queue. */
async function submitHere(state: MessageState): Promise<Submitted | null> {
  const { id, moves, route } = state;
  if (moves > 0) return null;
  try {
    return await submitInTask(id, route);
  } catch (error) {
    // Broken off for another reason, the end of its worker say, it is not given up.
    if (CancellationScope.current().consideredCancelled) throw error;
    return null;
  }
}
