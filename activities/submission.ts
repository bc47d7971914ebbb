import { ApplicationFailure } from '@temporalio/activity';
import type { SubmissionRound } from '../workflows/contracts.ts';
import { clampRetryToDeadline, withHeartbeat } from './failures.ts';
import { submitMessage } from './submission/message.ts';
import type { Submitted, Submitting } from './submission/storing.ts';

/** Handing messages to one route; run on that route's task queue. */
export function submissionActivities(submitting: Submitting) {
  return {
    /**
     * Submits all parts of a message that were not submitted before. A part whose earlier submit has no stored
     * answer is never submitted again: the message is `unanswered` then.
     * @throws ApplicationFailure `Throttled` or `RouteUnavailable`, to be tried again
     */
    async submit(messageId: string, round: SubmissionRound = { moves: 0 }): Promise<Submitted> {
      return await clampRetryToDeadline(() =>
        withHeartbeat(() => submitMessage(submitting, messageId, round)),
      );
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
 * Submitting past the route's queue; run where workflows run. Only where nothing would be waited for: whatever has to wait
 * for the route's rate, its window or its sessions waits in its queue, by priority and taking turns among accounts.
 * @param routeAtHand the route of that name, where this process has it open
 * @param notify makes first attempts at webhook events; returns those that are left
 */
export function quickSubmissionActivities(
  routeAtHand: (name: string) => RouteAtHand | undefined,
  notify: (events: readonly string[]) => Promise<string[]>,
) {
  return {
    /** As `submit`, within the workflow task, with its webhook; null when the message is to go through the route's queue. */
    async submitInTask(messageId: string, route: string): Promise<Submitted | null> {
      const outcome = await submitHere(routeAtHand(route), messageId);
      if (outcome === null || outcome.status === 'moved' || outcome.status === 'paused') return outcome;
      return { ...outcome, events: await notify(outcome.events) };
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
