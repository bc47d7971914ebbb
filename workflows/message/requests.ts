import { ApplicationFailure, CancellationScope, condition, setHandler } from '@temporalio/workflow';
import { CANCEL_LEAD_MS } from '../../domain/statuses.ts';
import {
  cancelSignal,
  cancelUpdate,
  FAILURE,
  giveUpUpdate,
  type MessageOutcome,
  outcomeSignal,
  outcomeUpdate,
  resubmitUpdate,
  resumeSignal,
} from '../contracts.ts';
import { local } from './local.ts';
import type { MessageState } from './state.ts';

/** Takes all that may be asked of a message, and said to it, while its workflow runs. */
export function takeRequests(state: MessageState): void {
  takeCancels(state);
  setHandler(resumeSignal, () => void (state.wakes += 1), {
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
    state.wakes += 1;
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
    state.wakes += 1;
  };
  setHandler(outcomeUpdate, take, { description: 'What the delivery reports of all parts come to.' });
  setHandler(outcomeSignal, take, { description: 'The same, where the update comes to no answer.' });
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
