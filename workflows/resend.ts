import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  proxyLocalActivities,
  setCurrentDetails,
} from '@temporalio/workflow';
import type { webhookClosingActivities } from '../activities/webhooks.ts';
import { FAILURE, type ResendInput, type ResendResult } from './contracts.ts';
import { resendWebhook } from './webhooks.ts';

// One database statement, repeated until the database answers.
const { closeResend } = proxyLocalActivities<ReturnType<typeof webhookClosingActivities>>({
  startToCloseTimeout: '10s',
  retry: { initialInterval: '100ms', maximumInterval: '5s' },
});

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
