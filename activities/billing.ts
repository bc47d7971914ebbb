import { cancelScheduled, chargeRequest } from '../db/money/billing.ts';
import type { Database } from '../db/connection.ts';
import type { Acceptance } from '../domain/acceptance.ts';
import { countEnd } from '../telemetry/messageMetrics.ts';
import type { ChargeNotices } from '../pipeline/chargeNotices.ts';

/** Single-transaction steps on money; run as local activities, safe to repeat. */
export function billingActivities(sql: Database, news: ChargeNotices) {
  return {
    /** Charges all recipients of a request together, or refuses them all. */
    async charge(requestId: string): Promise<Acceptance> {
      const acceptance = await chargeRequest(sql, requestId);
      if (acceptance.accepted) news.charged(requestId);
      return acceptance;
    },

    /** Cancels and refunds a message that is still scheduled; returns its status afterwards. */
    async cancelMessage(messageId: string): Promise<string> {
      const status = await cancelScheduled(sql, messageId);
      if (status === 'cancelled') countEnd(status);
      return status;
    },
  };
}
