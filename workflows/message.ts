import {
  allHandlersFinished,
  CancellationScope,
  CancelledFailure,
  condition,
  setCurrentDetails,
} from '@temporalio/workflow';
import type { MessageInput, MessageResult, SubmissionOutcome } from './contracts.ts';
import { local } from './message/local.ts';
import { notify } from './message/notify.ts';
import { queued } from './message/queued.ts';
import { takeRequests } from './message/requests.ts';
import { scheduled } from './message/scheduled.ts';
import { isFollowed, sent } from './message/sent.ts';
import { type MessageState, newState, show } from './message/state.ts';

/**
 * One message from its charge to its end: charge, wait for the send time, submit, wait for the delivery report, notify
 * the customer's webhook. Its id is the message's id. What is true now stands in the database; what happens next, here.
 */
export async function message(input: MessageInput): Promise<MessageResult> {
  const state = newState(input);
  takeRequests(state);
  const root = CancellationScope.current();
  // Nothing that moves money or a message is ever interrupted.
  const status = await CancellationScope.nonCancellable(async () => {
    const final = await fromChargeToEnd(state);
    // A cancel that came too late to be looked at is refused.
    state.cancelStatus ??= final;
    await condition(allHandlersFinished);
    return final;
  });
  if (root.consideredCancelled && status === 'cancelled')
    throw new CancelledFailure('cancelled and refunded');
  return { status };
}

/** From status to status, by the moves of `domain/statuses.ts` (v2.3.0, States and transitions). */
async function fromChargeToEnd(state: MessageState): Promise<string> {
  await local.charge(state.id);
  // Asks no route, whose queue nobody may take.
  if (state.input.isOver === true) return await end(state, await local.expire(state.id));
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
