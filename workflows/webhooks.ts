import {
  CancellationScope,
  log,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { billingActivities } from '../activities/messages.ts';
import type { quickWebhookActivities, webhookActivities } from '../activities/webhooks.ts';
import { ATTEMPT_TIMEOUT_MS, ATTEMPTS, pauseAfterAttempt } from '../domain/webhooks.ts';
import { type NotifyResult, WEBHOOKS_QUEUE } from './contracts.ts';

// An attempt, and the writing down of how it went.
const STEP_MS = 2 * ATTEMPT_TIMEOUT_MS;
const FIRST_PAUSE_MS = pauseAfterAttempt(1)!;
const LAST_PAUSE_MS = pauseAfterAttempt(ATTEMPTS - 1)!;

// Made once: what comes of it stands in the database, and the activity goes on from there.
const { notifyInTask } = proxyLocalActivities<ReturnType<typeof quickWebhookActivities>>({
  startToCloseTimeout: STEP_MS,
  retry: { maximumAttempts: 1 },
});

// The activity counts the attempts it made, and names the pause after each, so an attempt lost with its worker is made
// again instead of being taken from the receiver. After such a loss alone the pauses are those of this policy. All are of one
// priority, whatever their message's is: none but accounts' turns decides whose receiver is notified first.
function webhooksQueue(accountId: string | undefined) {
  return proxyActivities<ReturnType<typeof webhookActivities>>({
    taskQueue: WEBHOOKS_QUEUE,
    startToCloseTimeout: STEP_MS,
    retry: {
      initialInterval: FIRST_PAUSE_MS,
      backoffCoefficient: LAST_PAUSE_MS / FIRST_PAUSE_MS,
      maximumInterval: LAST_PAUSE_MS,
    },
    priority: { priorityKey: 3, ...(accountId === undefined ? {} : { fairnessKey: accountId }) },
    summary: "notifies the account's webhook",
  });
}

/**
 * Delivers webhook events one after the other; one that no attempt delivers is given up, and the next one follows. A receiver known to be
 * quick gets its first attempt within the workflow task.
 * @param deliveries ids of events, with the round where they are delivered again (`evt_…-1`)
 * @param accountId whose they are, where the workflow was not started as that account's
 */
export async function deliverEvents(deliveries: readonly string[], accountId?: string): Promise<void> {
  for (const delivery of deliveries) {
    const pauseMs = await notifyInTask(delivery).catch(() => 0);
    if (pauseMs === null) continue;
    if (pauseMs > 0) await sleep(pauseMs, { summary: 'waits for the next webhook attempt' });
    try {
      await webhooksQueue(accountId).deliverWebhook(delivery);
    } catch (error) {
      // By hand, in Temporal: it stays pending, and the reconciliation finds it.
      log.warn('a webhook delivery ended without a result', { error, delivery });
    }
  }
}

// One database statement each, repeated until the database answers.
const { charge: settleReservation, takePendingEvents } = proxyLocalActivities<
  ReturnType<typeof billingActivities> & ReturnType<typeof quickWebhookActivities>
>({
  startToCloseTimeout: '10s',
  retry: { initialInterval: '100ms', maximumInterval: '5s' },
});

/**
 * Delivers the pending webhook events of something that has no workflow of its own to do that: a link that was clicked for the first time,
 * a sender domain, or whatever lost its workflow. Its id is that of one of the events. A cancel changes nothing: what has happened is
 * delivered.
 */
export async function notify(): Promise<NotifyResult> {
  return await CancellationScope.nonCancellable(async () => {
    let delivered = 0;
    for (;;) {
      const events = await takePendingEvents(workflowInfo().workflowId);
      if (events.length === 0) return { events: delivered };
      await deliverEvents(events);
      delivered += events.length;
    }
  });
}

/**
 * One event delivered again, with the usual attempts. Its id is the event's with the round. A cancel changes nothing: it
 * ends within seconds.
 */
export async function resend(): Promise<void> {
  const { workflowId } = workflowInfo();
  await CancellationScope.nonCancellable(async () => {
    setCurrentDetails('Notifies the webhook again.');
    await settleReservation(workflowId);
    await deliverEvents([workflowId]);
  });
}
