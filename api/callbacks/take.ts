import { readLookup, readReply, readReports, type CallbackFields } from '../../providers/smsapi/callbacks.ts';
import type { CallbackKind } from '../../providers/smsapi/settings.ts';
import { storeReplies } from '../../db/incoming/inbound.ts';
import { storeLookupAnswer } from '../../db/lookups/lookupAnswers.ts';
import { storeReports } from '../../db/incoming/receipts.ts';
import { inboundStart } from '../../workflows/startOptions.ts';
import { countReports } from '../../telemetry/messageMetrics.ts';
import type { Services } from '../services.ts';

const START_MS = 5_000;

/**
 * Stores what a callback tells.
 * @returns false when it is no such callback: nothing was stored
 */
type Take = (services: Services, route: string, fields: CallbackFields) => Promise<boolean>;

/** What is done with each kind of callback. */
export const takeOf: Readonly<Record<CallbackKind, Take>> = {
  // Applied by the workers, who look for stored reports all the time.
  async reports({ sql }, route, fields) {
    const reports = readReports(fields);
    if (reports === null) return false;
    await storeReports(sql, route, reports);
    countReports(route, reports);
    return true;
  },

  async replies(services, route, fields) {
    const reply = readReply(fields);
    if (reply === null) return false;
    for (const id of await storeReplies(services.sql, route, [reply])) startInbound(services, id);
    return true;
  },

  async lookups({ sql }, route, fields) {
    const lookup = readLookup(fields);
    if (lookup === null) return false;
    await storeLookupAnswer(sql, route, lookup.providerId, lookup.answer);
    return true;
  },
};

/** Starts the workflow of a stored reply. Nobody waits for it: the workers look for replies that nobody processed. */
function startInbound({ temporal, log }: Services, id: string): void {
  temporal.connection
    .withDeadline(Date.now() + START_MS, () => temporal.workflow.start('inbound', inboundStart(id)))
    .catch((error: unknown) => log.warn({ err: error, replyId: id }, 'a reply is processed later'));
}
