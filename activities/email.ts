import type { Database } from '../db/connection.ts';
import { endEmail } from '../db/emails/handOver.ts';
import type { HandedOver } from '../workflows/contracts.ts';
import { handOverEmail, type HandingOver } from './email/handOver.ts';
import { unknownEmail, clampRetryToDeadline, withHeartbeat } from './failures.ts';

/** Single-transaction steps of an e-mail; run as local activities, safe to repeat. */
export function emailClosingActivities(sql: Database) {
  return {
    /**
     * Ends the wait for events: what was never handed over has failed and is refunded.
     * @throws ApplicationFailure `UnknownEmail`, for good
     */
    async endEmail(id: string): Promise<string> {
      const status = await endEmail(sql, id);
      if (status === null) throw unknownEmail(id);
      return status;
    },
  };
}

/** Handing e-mails to one route; run on that route's task queue. */
export function emailActivities(handing: HandingOver) {
  return {
    /**
     * Hands an e-mail over.
     * @param moves how often it has moved to another route so far
     * @throws ApplicationFailure `Throttled` or `RouteUnavailable`, to be tried again; `UnknownEmail`, for good
     */
    async handOver(id: string, moves: number): Promise<HandedOver> {
      return await clampRetryToDeadline(() => withHeartbeat(() => handOverEmail(handing, id, moves)));
    },
  };
}
