import { cancelScheduled } from '../db/money/billing.ts';
import { settleReservation } from '../db/money/reservations.ts';
import { pendingEventsOf } from '../db/incoming/inbound.ts';
import type { StatusChange } from '../db/messages/endings.ts';
import type { Database } from '../db/connection.ts';
import { countEnd } from '../telemetry/messageMetrics.ts';

/** Single-transaction steps on money; run as local activities, safe to repeat. */
export function billingActivities(sql: Database) {
  return {
    /** Charges what was reserved for a message, an e-mail or a look-up when it was accepted. */
    charge: (id: string): Promise<void> => settleReservation(sql, id),

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
