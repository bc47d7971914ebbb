import { proxyLocalActivities } from '@temporalio/workflow';
import type { billingActivities } from '../../activities/billing.ts';
import type { messageActivities } from '../../activities/messages.ts';
import type { quickSubmissionActivities } from '../../activities/submission.ts';

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
