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
  type MessageInput,
  type MessageOutcome,
  outcomeUpdate,
  resubmitUpdate,
  resumeSignal,
  SEARCH_ATTRIBUTES,
  type SubmissionOutcome,
} from './contracts.ts';
import { CANCEL_LEAD_MS } from '../domain/statuses.ts';

/** One database transaction each, keyed by the message: repeated until the database answers. */
export const local = proxyLocalActivities<
  ReturnType<typeof billingActivities> & ReturnType<typeof messageActivities>
>({
  startToCloseTimeout: '10s',
  retry: { initialInterval: '100ms', maximumInterval: '5s' },
});

/**
 * A submit made once: what it leaves open goes the ordinary way. No shorter than that way's time-out, since a submit that is
 * left to itself would look like one that nobody answered.
 */
export const { submitInTask } = proxyLocalActivities<ReturnType<typeof quickSubmissionActivities>>({
  startToCloseTimeout: '10m',
  retry: { maximumAttempts: 1 },
});

/** What one run of the workflow knows of its message. */
export interface MessageState {
  readonly id: string;
  readonly input: MessageInput;
  /** True from its send time on: it is not cancelled any more. */
  submitting: boolean;
  cancelRequested: boolean;
  /** What a cancel came to, for those who asked for it. */
  cancelStatus: string | undefined;
  route: string;
  /** How often it has moved to another route. */
  moves: number;
  /** The submit under way. */
  submission: CancellationScope | undefined;
  /** Its last submit was left unanswered. */
  unanswered: boolean;
  /** How often the SMSC has said late that it has not taken it. */
  heldLate: number;
  /** What its delivery reports came to, and staff decided, that is not dealt with yet; the first one first. */
  readonly outcomes: MessageOutcome[];
  /** Raised by whatever a paused message may go on for. */
  wakeCount: number;
  /** The status in the search attributes. */
  shown: string;
  /** Events that were delivered, or are being delivered. */
  readonly notified: Set<string>;
}

/** The state at the start of a run. */
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

/** Shows a status in the search attributes. */
export function show(state: MessageState, status: string): void {
  if (status === state.shown) return;
  state.shown = status;
  upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.status, value: status }]);
}

/** The message takes a route from now on; the search attributes show it. */
export function takeRoute(state: MessageState, next: string): void {
  if (next === state.route) return;
  state.route = next;
  upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.route, value: next }]);
}

/** Until when the message may be delivered, as text. */
export function until({ input }: MessageState): string {
  return new Date(input.giveUpAt).toISOString();
}

/** Waits for something, for a time of at least a millisecond. @returns whether it came */
export async function within(ms: number, summary: string, came: () => boolean): Promise<boolean> {
  return await condition(came, Math.max(ms, 1), { summary });
}

/** Takes all that may be asked of a message, and said to it, while its workflow runs. */
export function registerHandlers(state: MessageState): void {
  takeCancels(state);
  setHandler(resumeSignal, () => void (state.wakeCount += 1), {
    description: 'The account is active again: a paused message goes on.',
  });
  takeOutcomes(state);
  takeDecisions(state);
}

function takeCancels(state: MessageState): void {
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
  // Temporal's own cancel means the same as the signal.
  CancellationScope.current().cancelRequested.catch(cancel);
}

function takeOutcomes(state: MessageState): void {
  const take = (outcome: MessageOutcome): void => {
    state.outcomes.push(outcome);
    state.wakeCount += 1;
  };
  setHandler(outcomeUpdate, take, { description: 'What the delivery reports of all parts come to.' });
}

/** What staff decides of a message whose submit was left unanswered. */
function takeDecisions(state: MessageState): void {
  const { id, outcomes } = state;
  // While parts are being submitted, others may be unanswered: the database knows.
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
      // Some of it may wait for its route meanwhile, for as long as the message may be delivered.
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

/** What a cancel came to: the message's status afterwards, and its end where that is cancelled. */
interface CancelOutcome {
  status: string;
  end: SubmissionOutcome | null;
}

/** Cancels and refunds a message that is still scheduled. Its status comes alone where nobody is to be notified of it. */
export async function cancelMessage(id: string): Promise<CancelOutcome> {
  const answer = await local.cancelMessage(id);
  const { status, events } = typeof answer === 'string' ? { status: answer, events: [] } : answer;
  return { status, end: status === 'cancelled' ? { status, events } : null };
}
