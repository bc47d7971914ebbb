import { ApplicationFailure, Context } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import { createRetryPace } from '../concurrency/retryPace.ts';
import { createCounts } from '../concurrency/semaphore.ts';
import { loadEvent, takePendingEvents, type WebhookEvent } from '../db/webhooks/webhooks.ts';
import { attemptsOf } from '../domain/webhooks.ts';
import {
  attempt,
  type Ended,
  nameInLogs,
  type Notifying,
  notifyIfQuick,
} from '../pipeline/webhookAttempts.ts';
import { FAILURE } from '../workflows/contracts.ts';
import { throttled, usualPause } from './failures.ts';

// A tenth of what a worker has (`WEBHOOKS_AT_ONCE`), so that a receiver that hangs keeps none of another's waiting.
const ATTEMPTS_EACH = 100;

/** Notifying receivers; run on the webhooks' task queue. @param each attempts of one account at once */
export function webhookActivities(notifying: Notifying, each = ATTEMPTS_EACH) {
  const underWay = createCounts();
  const retries = createRetryPace();

  async function inPlace<T>({ accountId }: WebhookEvent, work: () => Promise<T>): Promise<T> {
    if (underWay.of(accountId) >= each) {
      const usualMs = usualPause(Context.current().info.attempt);
      const pauseMs = retries.beyond(accountId, usualMs) ?? usualMs;
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
     * Makes the next attempt at a delivery, and logs it; `exhausted` where that was the last, or nobody is to be notified.
     * @throws ApplicationFailure `WebhookAttemptFailed` with the delay until the next attempt; `Throttled` where it is not its turn yet
     */
    async deliverWebhook(delivery: string): Promise<Ended | null> {
      const event = await loadEvent(notifying.sql, delivery);
      if (event?.state !== 'pending') return null;
      nameInLogs(event);
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

/** Notifying receivers within a workflow task; run where workflows run. */
export function quickWebhookActivities(notifying: Notifying) {
  return {
    /** As `notifyIfQuick`. */
    notifyInTask: (delivery: string): Promise<number | null> => notifyIfQuick(notifying, delivery),

    /** As the function of the same name. */
    takePendingEvents: (eventId: string): Promise<string[]> => takePendingEvents(notifying.sql, eventId),
  };
}
