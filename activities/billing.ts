import { cancelScheduled, chargeRequest } from '../db/money/billing.ts';
import type { Database } from '../db/connection.ts';
import type { Acceptance } from '../domain/acceptance.ts';
import { countEnd } from '../telemetry/messageMetrics.ts';

/** Single-transaction steps on money; run as local activities, safe to repeat. */
export function billingActivities(sql: Database) {
  return {
    /** Charges all recipients of a request together, or refuses them all. */
    charge: (requestId: string): Promise<Acceptance> => chargeRequest(sql, requestId),

    /** Cancels and refunds a message that is still scheduled; returns its status afterwards. */
    async cancelMessage(messageId: string): Promise<string> {
      const status = await cancelScheduled(sql, messageId);
      if (status === 'cancelled') countEnd(status);
      return status;
    },
  };
}
