import { cancelScheduled, chargeRequest } from '../db/money/billing.ts';
import { chargeTogether } from '../db/money/gathered.ts';
import { pendingEventsOf } from '../db/incoming/inbound.ts';
import type { StatusChange } from '../db/messages/endings.ts';
import type { Database } from '../db/connection.ts';
import type { Acceptance, Acceptances } from '../domain/acceptance.ts';
import type { StartGap } from '../pipeline/startGap.ts';
import { countEnd } from '../telemetry/messageMetrics.ts';
import { withMoneyLocked } from './moneyLock.ts';

/**
 * Single-transaction steps on money; run as local activities, safe to repeat.
 * @param front connections that are free for charges of several requests, whatever else this process asks
 * @param startGap hears of them, where messages are started too
 */
export function billingActivities(sql: Database, front = sql, startGap?: Pick<StartGap, 'accepting'>) {
  return {
    /**
     * Charges all recipients of a request together, or refuses them all.
     * @param lastCallMs of a request of one message, how long its caller's call before took; null: nobody knows
     */
    async charge(requestId: string, lastCallMs: number | null = null): Promise<Acceptance> {
      startGap?.accepting(lastCallMs, 1);
      return await withMoneyLocked((lockMs) => chargeRequest(sql, requestId, lockMs));
    },

    /**
     * Charges requests of one message together, each for itself.
     * @param id of the workflow that does
     * @param lastCallMs how long the caller's call before took
     */
    async chargeTogether(
      id: string,
      requestIds: readonly string[],
      lastCallMs: number | null = null,
    ): Promise<Acceptances> {
      startGap?.accepting(lastCallMs, requestIds.length);
      return await chargeTogether(sql, id, requestIds, front);
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
