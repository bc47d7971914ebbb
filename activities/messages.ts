import { cancelOneOfClosed } from '../db/accounts/accounts.ts';
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

/** What happens to a message apart from its submission, by its workflow's timers or by staff's word. */
export function messageActivities(sql: Database, routing: () => Promise<Routing>) {
  return {
    /**
     * `scheduled` becomes `queued`, on the route that is the best one now. Returns that route. A message whose account is
     * suspended is paused instead, one whose account is closed is cancelled and refunded.
     */
    async release(messageId: string): Promise<Released> {
      let message = await releaseScheduled(sql, messageId);
      while (message?.kept === true) {
        const { route } = message;
        if (message.accountStatus === 'closed' && (await cancelOneOfClosed(sql, messageId))) {
          countEnd('cancelled');
          return { route, cancelled: true };
        }
        if (message.accountStatus === 'suspended' && (await pauseMessage(sql, messageId)))
          return { route, paused: true };
        // Staff have just changed the account's status again.
        message = await releaseScheduled(sql, messageId);
      }
      if (message === null) return { route: null };
      const { channel: type, recipient: msisdn, route, accountId, priority } = message;
      const traffic = { key: messageId, msisdn, accountId, priority, type };
      // Without any route the message waits on the one it was accepted for.
      const best = orderRoutes(await routing(), traffic)[0] ?? route;
      if (best === route || !(await moveToRoute(sql, messageId, route, best))) return { route };
      return { route: best };
    },

    /**
     * `queued` or `sent` becomes `expired`; returns what the message is now.
     * @throws ApplicationFailure `UnknownMessage`, for good
     */
    async expire(messageId: string): Promise<SubmissionOutcome> {
      const change = await expireMessage(sql, messageId);
      if (change === null) throw unknownMessage(messageId);
      const { status, events } = change;
      // By reports that were faster it has another end, which is counted where it came from.
      if (status === 'expired') countEnd(status);
      return { status: status as SubmissionOutcome['status'], events };
    },

    /** Lets unanswered parts be submitted again; false when the message has none or has ended. */
    reopen: (messageId: string): Promise<boolean> => reopenUnanswered(sql, messageId),

    /** A message with an unanswered submit becomes `failed` and is refunded; returns what it is now. */
    async giveUp(messageId: string): Promise<SubmissionOutcome> {
      const { status, events } = await giveUpUnanswered(sql, messageId);
      if (status === 'failed') countEnd(status);
      return { status: status as SubmissionOutcome['status'], events };
    },
  };
}

/** Single-transaction steps on money; run as local activities, safe to repeat. */
export function billingActivities(sql: Database) {
  return {
    /** Takes up what was reserved, and where it costs something charged, when it was accepted. */
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
