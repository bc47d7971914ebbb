import { ApplicationFailure } from '@temporalio/activity';
import type { SubmissionRound } from '../workflows/contracts.ts';
import { clampRetryToDeadline, withHeartbeat } from './failures.ts';
import { submitMessage } from './submission/message.ts';
import type { Submitted, SubmitContext } from './submission/storing.ts';

/** Run on the route's task queue. */
export function submissionActivities(submitting: SubmitContext) {
  return {
    /**
     * Submits all parts not submitted yet. Parts whose earlier submit has no stored answer are never submitted again: `unanswered`.
     * @throws ApplicationFailure `Throttled` or `RouteUnavailable`, retryable
     */
    async submit(messageId: string, round: SubmissionRound = { moves: 0 }): Promise<Submitted> {
      return await clampRetryToDeadline(() =>
        withHeartbeat(() => submitMessage(submitting, messageId, round)),
      );
    },
  };
}

export interface LocalRoute {
  submitting: SubmitContext;
  /** Takes a slot if the route can submit without waiting; else null. */
  tryAcquire(): (() => void) | null;
}

/**
 * Bypasses the route's queue, within the workflow task, if nothing has to be waited for: what waits for rate, window or sessions belongs
 * in the queue, by priority and in turns among accounts.
 * @param notify makes first attempts at webhook events; returns the events left
 */
export function quickSubmissionActivities(
  routeAtHand: (name: string) => LocalRoute | undefined,
  notify: (events: readonly string[]) => Promise<string[]>,
) {
  return {
    /** As `submit`, including the webhook; null: the message has to go through the route's queue. */
    async submitInTask(messageId: string, route: string): Promise<Submitted | null> {
      const outcome = await submitHere(routeAtHand(route), messageId);
      if (outcome === null || outcome.status === 'moved' || outcome.status === 'paused') return outcome;
      return { ...outcome, events: await notify(outcome.events) };
    },
  };
}

async function submitHere(route: LocalRoute | undefined, messageId: string): Promise<Submitted | null> {
  const leave = route?.tryAcquire() ?? null;
  if (!route || !leave) return null;
  try {
    return await submitMessage(route.submitting, messageId, { moves: 0 }, Date.now());
  } catch (error) {
    // Retryable: the route's queue takes over.
    if (error instanceof ApplicationFailure) return null;
    throw error;
  } finally {
    leave();
  }
}
