import { cancelMessageOfClosedAccount } from '../db/accounts/accounts.ts';
import { expireMessage, giveUpUnanswered, type StatusChange } from '../db/messages/endings.ts';
import { pauseMessage } from '../db/messages/pauses.ts';
import { moveToRoute, releaseScheduled } from '../db/messages/submissions.ts';
import { reopenUnanswered } from '../db/messages/unanswered.ts';
import type { Database } from '../db/connection.ts';
import { orderRoutes, type Routing } from '../domain/routing.ts';
import { countEnd } from '../telemetry/messageMetrics.ts';
import type { Released, SubmissionOutcome } from '../workflows/contracts.ts';
import { unknownMessage } from './failures.ts';
import { cancelScheduled } from '../db/money/billing.ts';
import { settleReservation } from '../db/money/reservations.ts';
import { pendingEventsOf } from '../db/incoming/inbound.ts';

/** Status changes besides submission, caused by workflow timers or staff. */
export function messageActivities(sql: Database, routing: () => Promise<Routing>) {
  return {
    /** Moves a `scheduled` message to `queued` and the best route; pauses it if its account is suspended, cancels it if closed. */
    async release(messageId: string): Promise<Released> {
      let message = await releaseScheduled(sql, messageId);
      while (message?.kept === true) {
        const { route } = message;
        if (message.accountStatus === 'closed' && (await cancelMessageOfClosedAccount(sql, messageId))) {
          countEnd('cancelled');
          return { route, cancelled: true };
        }
        if (message.accountStatus === 'suspended' && (await pauseMessage(sql, messageId)))
          return { route, paused: true };
        // Staff have changed the account's status in between.
        message = await releaseScheduled(sql, messageId);
      }
      if (message === null) return { route: null };
      const { channel: type, recipient: msisdn, route, accountId, priority, parts } = message;
      const traffic = { key: messageId, msisdn, accountId, priority, parts, type };
      // Without a working route it waits on the one it was accepted for.
      const best = orderRoutes(await routing(), traffic)[0] ?? route;
      if (best === route || !(await moveToRoute(sql, messageId, route, best))) return { route };
      return { route: best };
    },

    /** Expires a `queued` or `sent` message; returns its status now. @throws ApplicationFailure `UnknownMessage`, not retryable */
    async expire(messageId: string): Promise<SubmissionOutcome> {
      const change = await expireMessage(sql, messageId);
      if (change === null) throw unknownMessage(messageId);
      const { status, events } = change;
      // A delivery report may have come first; that end is counted where it was applied.
      if (status === 'expired') countEnd(status);
      return { status: status as SubmissionOutcome['status'], events };
    },

    /** Allows unanswered parts to be submitted again; false if there are none or the message has ended. */
    reopen: (messageId: string): Promise<boolean> => reopenUnanswered(sql, messageId),

    /** Fails and refunds a message with an unanswered submit; returns its status now. */
    async giveUp(messageId: string): Promise<SubmissionOutcome> {
      const { status, events } = await giveUpUnanswered(sql, messageId);
      if (status === 'failed') countEnd(status);
      return { status: status as SubmissionOutcome['status'], events };
    },
  };
}

/** Money steps of one transaction each; run as local activities, safe to repeat. */
export function billingActivities(sql: Database) {
  return {
    /** Settles the reservation: the charge itself was made on acceptance. */
    charge: (id: string): Promise<void> => settleReservation(sql, id),

    /** Cancels and refunds a message that is still scheduled; returns its status, with pending events if any. */
    async cancelMessage(messageId: string): Promise<string | StatusChange> {
      const status = await cancelScheduled(sql, messageId);
      if (status !== 'cancelled') return status;
      countEnd(status);
      const events = await pendingEventsOf(sql, messageId);
      return events.length > 0 ? { status, events } : status;
    },
  };
}
