import { ApplicationFailure } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import type { Database } from '../db/connection.ts';
import { attemptsBefore, endResend } from '../db/webhooks/webhookDeliveries.ts';
import { loadEvent, logAttempt, takePendingEvents, type WebhookEvent } from '../db/webhooks/webhooks.ts';
import { attemptsOf } from '../domain/webhooks.ts';
import {
  attempt,
  createWebhookPlaces,
  exhaust,
  nameInLogs,
  type Notifying,
  notifyOnce,
  pauseAfter,
  post,
} from '../pipeline/webhookAttempts.ts';
import { observeAttempt } from '../telemetry/messageMetrics.ts';
import { type AttemptLeft, FAILURE } from '../workflows/contracts.ts';
import { throttled, unknownResend } from './failures.ts';

// A tenth of what a worker has: see `WEBHOOKS_AT_ONCE`.
const ATTEMPTS_EACH = 100;

/** Notifying receivers; run on the webhooks' task queue. @param places for how many of an account at once */
export function webhookActivities(notifying: Notifying, places = createWebhookPlaces(ATTEMPTS_EACH)) {
  const { sql } = notifying;

  async function inPlace<T>({ accountId }: WebhookEvent, work: () => Promise<T>): Promise<T> {
    const place = places.enter(accountId);
    if ('againInMs' in place)
      throw throttled('its account has as many attempts under way as it may', place.againInMs, null);
    try {
      return await work();
    } finally {
      place.leave();
    }
  }

  return {
    /**
     * Makes one delivery attempt and logs it.
     * @throws ApplicationFailure `WebhookAttemptFailed` with the delay until the next attempt, or `WebhookExhausted`,
     *   final, after the last; `Throttled` where it is not its turn yet
     */
    async deliverWebhook(eventId: string): Promise<void> {
      const event = await loadEvent(sql, eventId);
      if (!event || event.state !== 'pending') return;
      nameInLogs(event);
      if (!event.url || !event.secret || event.attempts >= attemptsOf(event.type))
        return exhaust(sql, eventId);

      const number = event.attempts + 1;
      const { url } = event;
      const { delivered, statusCode } = await inPlace(event, () => attempt(notifying, event, url, number));
      if (!delivered) throw failure(event, number, statusCode);
    },

    /**
     * The same for an event that is delivered again: attempts are counted anew, and numbered on.
     * @param round which of its further deliveries
     * @throws ApplicationFailure as deliverWebhook; `UnknownResend`, for good
     */
    async resendWebhook(eventId: string, round: number): Promise<void> {
      const before = await attemptsBefore(sql, eventId, round);
      if (before === undefined) throw unknownResend(eventId, round);
      const event = await loadEvent(sql, eventId);
      if (before === null || !event) return;
      // Clean-up may have taken those before the round since.
      const last = Math.max(event.attempts, before);
      const tried = last - before;
      if (!event.url || !event.secret || tried >= attemptsOf(event.type)) {
        return endResend(sql, eventId, round, 'exhausted');
      }
      const { url } = event;
      const { delivered, ...result } = await inPlace(event, () => post(notifying, event, url));
      // The event keeps its state until a round ends well.
      await logAttempt(sql, { eventId, attempt: last + 1, url, ...result }, 'pending');
      observeAttempt(result.statusCode, result.durationMs);
      if (delivered) return endResend(sql, eventId, round, 'delivered');
      if (tried + 1 >= attemptsOf(event.type)) await endResend(sql, eventId, round, 'exhausted');
      throw failure(event, tried + 1, result.statusCode);
    },
  };
}

/** Notifying receivers within a workflow task; run where workflows run. */
export function quickWebhookActivities(notifying: Notifying) {
  return {
    /** As `notifyOnce`. */
    notifyInTask: async (eventId: string): Promise<AttemptLeft | null> =>
      notifyOnce(notifying, await loadEvent(notifying.sql, eventId)),
  };
}

/** What workflows do about events beside delivering them. */
export function webhookClosingActivities(sql: Database) {
  return {
    /** As the function of the same name. */
    takePendingEvents: (eventId: string): Promise<string[]> => takePendingEvents(sql, eventId),

    /** Marks an event as exhausted, also when its last attempt was lost. */
    closeWebhook: (eventId: string): Promise<void> => exhaust(sql, eventId),

    /** Ends a further delivery that no attempt delivered, also when its last attempt was lost. */
    closeResend: (eventId: string, round: number): Promise<void> =>
      endResend(sql, eventId, round, 'exhausted'),
  };
}

function failure(event: WebhookEvent, number: number, statusCode: number | null): ApplicationFailure {
  const message = `attempt ${number} of ${attemptsOf(event.type)} failed: ${statusCode ?? 'no answer'}`;
  const nextRetryDelay = pauseAfter(event, number);
  return nextRetryDelay === null
    ? ApplicationFailure.nonRetryable(message, FAILURE.webhookExhausted)
    : ApplicationFailure.create({
        message,
        type: FAILURE.webhookAttemptFailed,
        nextRetryDelay,
        category: ApplicationFailureCategory.BENIGN,
      });
}
