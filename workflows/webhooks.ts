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
import { LOCAL_ACTIVITY, type NotifyResult, WEBHOOKS_QUEUE } from './contracts.ts';

// The attempt and storing its result.
const STEP_MS = 2 * ATTEMPT_TIMEOUT_MS;
const FIRST_PAUSE_MS = pauseAfterAttempt(1)!;
const LAST_PAUSE_MS = pauseAfterAttempt(ATTEMPTS - 1)!;

// One attempt: the result is in the database, and the activity continues from there.
const { notifyInTask } = proxyLocalActivities<ReturnType<typeof quickWebhookActivities>>({
  startToCloseTimeout: STEP_MS,
  retry: { maximumAttempts: 1 },
});

// The activity counts attempts in the database and sets the delay after each, so one lost with its worker is repeated, not counted; only
// then this policy's delays apply. One priority for all: only fairness among accounts decides which receiver is notified first.
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
 * Delivers webhook events in sequence, giving up exhausted ones; first attempts at quick receivers are made within the workflow task.
 * @param deliveries event ids, with the round if redelivered (`evt_…-1`)
 * @param accountId the owner, if not set by the workflow's start
 */
export async function deliverEvents(deliveries: readonly string[], accountId?: string): Promise<void> {
  for (const delivery of deliveries) {
    const pauseMs = await notifyInTask(delivery).catch(() => 0);
    if (pauseMs === null) continue;
    if (pauseMs > 0) await sleep(pauseMs, { summary: 'waits for the next webhook attempt' });
    try {
      await webhooksQueue(accountId).deliverWebhook(delivery);
    } catch (error) {
      // Ended by hand in Temporal: it stays pending, and the reconciliation finds it.
      log.warn('a webhook delivery ended without a result', { error, delivery });
    }
  }
}

const { charge: settleReservation, takePendingEvents } = proxyLocalActivities<
  ReturnType<typeof billingActivities> & ReturnType<typeof quickWebhookActivities>
>(LOCAL_ACTIVITY);

/** Delivers events of links, verifications, sender domains and lost workflows; its id is one of the events'. A cancel has no effect. */
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

/** Redelivers one event with the usual attempts; the workflow id is the event's with the round. A cancel has no effect. */
export async function resend(): Promise<void> {
  const { workflowId } = workflowInfo();
  await CancellationScope.nonCancellable(async () => {
    setCurrentDetails('Notifies the webhook again.');
    await settleReservation(workflowId);
    await deliverEvents([workflowId]);
  });
}
