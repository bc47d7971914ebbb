import type { Database } from '../db/connection.ts';
import { endEmail } from '../db/emails/handOver.ts';
import type { HandedOver } from '../workflows/contracts.ts';
import { handOverEmail, type HandOverContext } from './email/handOver.ts';
import { unknownEmail, clampRetryToDeadline, withHeartbeat } from './failures.ts';

/** Steps of one transaction each; run as local activities, safe to repeat. */
export function emailClosingActivities(sql: Database) {
  return {
    /** Ends the wait for events; an e-mail never handed over fails and is refunded. @throws ApplicationFailure `UnknownEmail` */
    async endEmail(id: string): Promise<string> {
      const status = await endEmail(sql, id);
      if (status === null) throw unknownEmail(id);
      return status;
    },
  };
}

/** Run on the route's task queue. */
export function emailActivities(handing: HandOverContext) {
  return {
    /**
     * @param moves how often the e-mail has moved to another route
     * @throws ApplicationFailure `Throttled` or `RouteUnavailable`, retryable; `UnknownEmail`, not retryable
     */
    async handOver(id: string, moves: number): Promise<HandedOver> {
      return await clampRetryToDeadline(() => withHeartbeat(() => handOverEmail(handing, id, moves)));
    },
  };
}
