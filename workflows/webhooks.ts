import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { webhookActivities, webhookClosingActivities } from '../activities/webhooks.ts';
import { WEBHOOKS_QUEUE } from './contracts.ts';

// One database statement, repeated until the database answers.
const { closeWebhook } = proxyLocalActivities<ReturnType<typeof webhookClosingActivities>>({
  startToCloseTimeout: '10s',
  retry: { initialInterval: '100ms', maximumInterval: '5s' },
});

// Tried three times, at 0 s, 2 s and 10 s. The activity counts the attempts it made, so an attempt lost with its
// worker is made again instead of being taken from the receiver.
export const { deliverWebhook, resendWebhook } = proxyActivities<ReturnType<typeof webhookActivities>>({
  taskQueue: WEBHOOKS_QUEUE,
  startToCloseTimeout: '20s',
  retry: { initialInterval: '2s', backoffCoefficient: 4, maximumInterval: '8s' },
  summary: "tells the account's webhook",
});

/** Delivers webhook events one after the other; one that nobody takes is closed, and the next one follows. */
export async function deliverEvents(events: readonly string[]): Promise<void> {
  for (const event of events) {
    await deliverWebhook(event).catch(() => closeWebhook(event));
  }
}
