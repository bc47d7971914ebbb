import { ApplicationFailure, Context } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import { createRetryThrottle } from '../concurrency/retryPace.ts';
import { createCounts } from '../concurrency/semaphore.ts';
import { loadEvent, takePendingEvents, type WebhookEvent } from '../db/webhooks/webhooks.ts';
import { attemptsOf } from '../domain/webhooks.ts';
import {
  attempt,
  type Ended,
  addEventIds,
  type WebhookContext,
  notifyIfQuick,
} from '../pipeline/webhookAttempts.ts';
import { FAILURE } from '../workflows/contracts.ts';
import { throttled, usualRetryDelay } from './failures.ts';

// A tenth of a worker's slots: a receiver that hangs cannot hold up the others.
const ATTEMPTS_EACH = 100;

/** Run on the webhooks' task queue. @param each concurrent attempts per account */
export function webhookActivities(notifying: WebhookContext, each = ATTEMPTS_EACH) {
  const underWay = createCounts();
  const retries = createRetryThrottle();

  async function inPlace<T>({ accountId }: WebhookEvent, work: () => Promise<T>): Promise<T> {
    if (underWay.of(accountId) >= each) {
      const usualMs = usualRetryDelay(Context.current().info.attempt);
      const pauseMs = retries.delayFor(accountId, usualMs) ?? usualMs;
      throw throttled('its account has as many attempts under way as it may', pauseMs, null);
    }
    underWay.add(accountId);
    try {
      return await work();
    } finally {
      underWay.remove(accountId);
    }
  }

  return {
    /**
     * Makes and logs the next attempt of a delivery. `exhausted`: no attempts left, or no webhook any more.
     * @throws ApplicationFailure `WebhookAttemptFailed` with the delay until the next attempt; `Throttled` at the account's limit
     */
    async deliverWebhook(delivery: string): Promise<Ended | null> {
      const event = await loadEvent(notifying.sql, delivery);
      if (event?.state !== 'pending') return null;
      addEventIds(event);
      const { state, nextInMs, statusCode } = await inPlace(event, () => attempt(notifying, event));
      if (state !== 'pending') {
        if (state === 'delivered') retries.reset(event.accountId);
        return state;
      }
      throw ApplicationFailure.create({
        message: `attempt ${event.attempts + 1} of ${attemptsOf(event.type)} failed: ${statusCode ?? 'no answer'}`,
        type: FAILURE.webhookAttemptFailed,
        nextRetryDelay: nextInMs,
        category: ApplicationFailureCategory.BENIGN,
      });
    },
  };
}

/** Run as local activities, within a workflow task. */
export function quickWebhookActivities(notifying: WebhookContext) {
  return {
    notifyInTask: (delivery: string): Promise<number | null> => notifyIfQuick(notifying, delivery),

    takePendingEvents: (eventId: string): Promise<string[]> => takePendingEvents(notifying.sql, eventId),
  };
}
