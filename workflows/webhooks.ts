import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type {
  quickWebhookActivities,
  webhookActivities,
  webhookClosingActivities,
} from '../activities/webhooks.ts';
import { ATTEMPT_TIMEOUT_MS, ATTEMPTS, pauseAfterAttempt } from '../domain/webhooks.ts';
import {
  type AttemptLeft,
  FAILURE,
  type NotifyResult,
  type ResendInput,
  type ResendResult,
  WEBHOOKS_QUEUE,
} from './contracts.ts';

// An attempt, and the writing down of how it went.
const STEP_MS = 2 * ATTEMPT_TIMEOUT_MS;
const FIRST_PAUSE_MS = pauseAfterAttempt(1)!;
const LAST_PAUSE_MS = pauseAfterAttempt(ATTEMPTS - 1)!;

// One database statement each, repeated until the database answers.
const { closeWebhook, takePendingEvents, closeResend } = proxyLocalActivities<
  ReturnType<typeof webhookClosingActivities>
>({
  startToCloseTimeout: '10s',
  retry: { initialInterval: '100ms', maximumInterval: '5s' },
});

// Made once: what comes of it stands in the database, and the ordinary way goes on from there.
const { notifyInTask } = proxyLocalActivities<ReturnType<typeof quickWebhookActivities>>({
  startToCloseTimeout: STEP_MS,
  retry: { maximumAttempts: 1 },
});

// The activity counts the attempts it made, and names the pause after each, so an attempt lost with its worker is made
// again instead of being taken from the receiver. After such a loss alone the pauses are those of this policy. All are of one
// priority, whatever their message's is: none but accounts' turns decides whose receiver is notified first.
function attempts(accountId?: string) {
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

const { deliverWebhook, resendWebhook } = attempts();
export { resendWebhook };

/**
 * Delivers webhook events one after the other; one that no attempt delivers is closed, and the next one follows. A receiver known to be
 * quick gets its first attempt within the workflow task.
 * @param attempted what is left of those that had their first attempt before
 * @param accountId whose they are, where the workflow was not started as that account's
 */
export async function deliverEvents(
  events: readonly string[],
  attempted: ReadonlyMap<string, AttemptLeft | null> = new Map(),
  accountId?: string,
): Promise<void> {
  const deliver = accountId === undefined ? deliverWebhook : attempts(accountId).deliverWebhook;
  for (const event of events) {
    const left = attempted.has(event) ? attempted.get(event)! : await firstAttempt(event);
    if (left === null) continue;
    if (left.nextInMs > 0) await sleep(left.nextInMs, { summary: 'waits for the next webhook attempt' });
    await deliver(event).catch(() => closeWebhook(event));
  }
}

async function firstAttempt(event: string): Promise<AttemptLeft | null> {
  return await notifyInTask(event).catch(() => ({ nextInMs: 0 }));
}

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
export async function resend({ eventId, round }: ResendInput): Promise<ResendResult> {
  return await CancellationScope.nonCancellable(async () => {
    setCurrentDetails('Notifies the webhook again.');
    try {
      await resendWebhook(eventId, round);
      return { taken: true };
    } catch (error) {
      if (isUnknown(error)) throw error;
      await closeResend(eventId, round);
      setCurrentDetails('Nobody took it.');
      return { taken: false };
    }
  });
}

function isUnknown(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  return cause instanceof ApplicationFailure && cause.type === FAILURE.unknownResend;
}
