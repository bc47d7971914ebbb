import {
  ApplicationFailure,
  CancellationScope,
  condition,
  proxyLocalActivities,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { billingActivities, messageActivities } from '../activities/messages.ts';
import type { quickSubmissionActivities } from '../activities/submission.ts';
import {
  cancelSignal,
  cancelUpdate,
  FAILURE,
  giveUpUpdate,
  LOCAL_ACTIVITY,
  type MessageInput,
  type MessageOutcome,
  outcomeUpdate,
  resubmitUpdate,
  resumeSignal,
  SEARCH_ATTRIBUTES,
  type SubmissionOutcome,
} from './contracts.ts';
import { CANCEL_LEAD_MS } from '../domain/statuses.ts';

export const local = proxyLocalActivities<
  ReturnType<typeof billingActivities> & ReturnType<typeof messageActivities>
>(LOCAL_ACTIVITY);

// One attempt; the route's queue takes over. Time-out as in the queue: a submit still under way must not pass for an unanswered one.
export const { submitInTask } = proxyLocalActivities<ReturnType<typeof quickSubmissionActivities>>({
  startToCloseTimeout: '10m',
  retry: { maximumAttempts: 1 },
});

export interface MessageState {
  readonly id: string;
  readonly input: MessageInput;
  /** Set at the send time: can no longer be cancelled. */
  submitting: boolean;
  cancelRequested: boolean;
  /** Result of a cancel, for its callers. */
  cancelStatus: string | undefined;
  route: string;
  moves: number;
  /** Scope of the submit under way. */
  submission: CancellationScope | undefined;
  unanswered: boolean;
  /** How often the SMSC has rejected it late. */
  heldLate: number;
  /** Outcomes of delivery reports and of staff's decisions still to be handled, oldest first. */
  readonly outcomes: MessageOutcome[];
  /** Counts the signals and updates that may wake a paused message. */
  wakeCount: number;
  /** Status in the search attributes. */
  shown: string;
  /** Events delivered or being delivered. */
  readonly notified: Set<string>;
}

export function newState(input: MessageInput): MessageState {
  return {
    id: workflowInfo().workflowId,
    input,
    submitting: false,
    cancelRequested: false,
    cancelStatus: undefined,
    route: input.route,
    moves: 0,
    submission: undefined,
    unanswered: false,
    heldLate: 0,
    outcomes: [],
    wakeCount: 0,
    shown: input.sendAt === null ? 'queued' : 'scheduled',
    notified: new Set(),
  };
}

export function show(state: MessageState, status: string): void {
  if (status === state.shown) return;
  state.shown = status;
  upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.status, value: status }]);
}

/** Sets the route, also in the search attributes. */
export function setRoute(state: MessageState, next: string): void {
  if (next === state.route) return;
  state.route = next;
  upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.route, value: next }]);
}

/** The end of the message's validity, ISO 8601. */
export function until({ input }: MessageState): string {
  return new Date(input.giveUpAt).toISOString();
}

/** Waits for a condition, `ms` but at least 1 ms. @returns whether it became true */
export async function within(ms: number, summary: string, came: () => boolean): Promise<boolean> {
  return await condition(came, Math.max(ms, 1), { summary });
}

/** Registers all signal and update handlers of the `message` workflow. */
export function registerHandlers(state: MessageState): void {
  handleCancels(state);
  setHandler(resumeSignal, () => void (state.wakeCount += 1), {
    description: 'The account is active again: a paused message goes on.',
  });
  handleOutcomes(state);
  handleDecisions(state);
}

function handleCancels(state: MessageState): void {
  const { sendAt } = state.input;
  setHandler(
    cancelUpdate,
    async () => {
      state.cancelRequested = true;
      await condition(() => state.cancelStatus !== undefined);
      if (state.cancelStatus !== 'cancelled') throw notCancellable();
    },
    {
      description: 'Cancels and refunds the message; refused later than 30 s before its send time.',
      validator: () => {
        if (state.submitting || sendAt === null || sendAt - Date.now() < CANCEL_LEAD_MS)
          throw notCancellable();
      },
    },
  );
  const cancel = (): void => {
    state.cancelRequested = true;
    state.wakeCount += 1;
  };
  setHandler(cancelSignal, cancel, {
    description: 'Cancels and refunds the message as long as it is scheduled.',
  });
  // A cancel in the Temporal UI means the same as the signal.
  CancellationScope.current().cancelRequested.catch(cancel);
}

function handleOutcomes(state: MessageState): void {
  const take = (outcome: MessageOutcome): void => {
    state.outcomes.push(outcome);
    state.wakeCount += 1;
  };
  setHandler(outcomeUpdate, take, { description: 'What the delivery reports of all parts come to.' });
}

function handleDecisions(state: MessageState): void {
  const { id, outcomes } = state;
  // During a submit other parts may be unanswered: the database decides.
  const validator = (): void => {
    if ((!state.unanswered && state.submission === undefined) || outcomes.length > 0) throw notUnanswered();
  };
  setHandler(
    resubmitUpdate,
    async () => {
      if (!(await CancellationScope.nonCancellable(() => local.reopen(id)))) throw notUnanswered();
      state.heldLate = 0;
      outcomes.push({ status: 'held', events: [] });
    },
    { description: 'Submits an unanswered message again, although the SMSC may have it.', validator },
  );
  setHandler(
    giveUpUpdate,
    async () => {
      const { status, events } = await CancellationScope.nonCancellable(() => local.giveUp(id));
      if (status !== 'failed') throw notUnanswered();
      outcomes.push({ status, events });
      // The rest may still wait for its route, for as long as the message is valid.
      state.submission?.cancel();
    },
    { description: 'Gives an unanswered message up: failed and refunded.', validator },
  );
}

function notUnanswered(): ApplicationFailure {
  return ApplicationFailure.nonRetryable('no submit of it is unanswered', FAILURE.notUnanswered);
}

function notCancellable(): ApplicationFailure {
  return ApplicationFailure.nonRetryable(
    'not scheduled, or less than 30 s before its send time',
    FAILURE.notCancellable,
  );
}

interface CancelOutcome {
  status: string;
  end: SubmissionOutcome | null;
}

/** Cancels and refunds a message that is still scheduled. `local.cancelMessage` returns a bare status if it caused no events. */
export async function cancelMessage(id: string): Promise<CancelOutcome> {
  const answer = await local.cancelMessage(id);
  const { status, events } = typeof answer === 'string' ? { status: answer, events: [] } : answer;
  return { status, end: status === 'cancelled' ? { status, events } : null };
}
