import { cancelScheduled, chargeRequest } from '../db/money/billing.ts';
import { pendingEventsOf } from '../db/incoming/inbound.ts';
import type { StatusChange } from '../db/messages/endings.ts';
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
      // Whose task is taken away meanwhile finds nothing of what was refused: only here it is known why.
      if (acceptance.accepted || acceptance.reason === 'insufficient_funds')
        news.decided({ requestId, acceptance });
      return acceptance;
    },

    /** Cancels and refunds a message that is still scheduled; returns its status afterwards, with events where there are any. */
    async cancelMessage(messageId: string): Promise<string | StatusChange> {
      const status = await cancelScheduled(sql, messageId);
      if (status !== 'cancelled') return status;
      countEnd(status);
      const events = await pendingEventsOf(sql, messageId);
      return events.length > 0 ? { status, events } : status;
    },
  };
}
