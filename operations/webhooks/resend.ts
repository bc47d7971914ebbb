import { setTimeout as delay } from 'node:timers/promises';
import type { Database, Sql } from '../../db/connection.ts';
import { readResendableSince } from '../../db/webhooks/exhausted.ts';
import {
  type Also,
  type DeliveryRow,
  type NotResent,
  readResends,
  whyNotResent,
  readDelivery,
  requestResend,
  type Resend,
  RESENDS_AT_ONCE,
  RESENDS_MAX,
} from '../../db/webhooks/webhookDeliveries.ts';
import { Refused, type ResendRefusal, StaffRefused } from '../../domain/refusals.ts';
import type { OperationContext } from '../context.ts';
import { type ActRecord, recordedAfter } from '../staff.ts';

const BUSY_SECONDS = 10;
// An account may have only some resends in progress; further ones wait for those.
const PLACE_WITHIN_MS = 60_000;
const LOOK_MS = 500;

/** Delivers a webhook event again (our addition), with the usual attempts. @returns the updated event @throws Refused */
export async function resend({
  services,
  caller,
  input: { id },
}: OperationContext<{ id: string }>): Promise<DeliveryRow> {
  const { accountId } = caller;
  const round = await request(services.sql, id, accountId);
  if ('reason' in round) throw new Refused(round);
  const delivery = await readDelivery(services.sql, accountId, id);
  if (delivery === null) throw new Refused({ reason: 'event_unknown' });
  return delivery;
}

/**
 * Delivers those events again that nobody took since an instant and that may be resent, newest first: as many as may be under way at once.
 * @returns how many @throws Refused where there is none, or no place
 */
export async function resendFailed({
  services: { sql },
  caller: { accountId },
  input: { since },
}: OperationContext<{ since: number }>): Promise<number> {
  let requested = 0;
  let refusal: ResendRefusal = { reason: 'event_unknown' };
  for (const id of await readResendableSince(sql, accountId, since, RESENDS_AT_ONCE)) {
    const round = await request(sql, id, accountId);
    if ('round' in round) requested += 1;
    else refusal = round;
    if (refusal.reason === 'resends_at_once') break;
  }
  if (requested === 0) throw new Refused(refusal);
  return requested;
}

/** Delivers an event of any account again, for staff. @throws StaffRefused event_not_resent */
export const resendForStaff = recordedAfter('webhooks resend', async (services, { id }: { id: string }) => {
  const resend = await resendAsStaff(services.sql, id);
  return { data: undefined, ...recordOfResend(resend) };
});

/** Requests a resend of an event of any account. @param also done in the same transaction @throws StaffRefused event_not_resent */
export async function resendAsStaff(sql: Database, id: string, also?: Also): Promise<Resend> {
  const round = await requestWithin(sql, id, Date.now() + PLACE_WITHIN_MS, also);
  if ('reason' in round) throw new StaffRefused({ reason: 'event_not_resent', event: id, why: round });
  return round;
}

/** The audit record of a resend. */
export function recordOfResend({ eventId, accountId, round }: Resend): ActRecord {
  return { account: accountId, subject: eventId, details: { round } };
}

async function requestWithin(
  sql: Database,
  id: string,
  deadline: number,
  also?: Also,
): Promise<Resend | ResendRefusal> {
  for (;;) {
    const round = await request(sql, id, null, also);
    const full = 'reason' in round && round.reason === 'resends_at_once';
    if (!full || Date.now() > deadline) return round;
    await delay(LOOK_MS);
  }
}

/** Records a redelivery request; a worker starts its workflow. @param accountId the event's owner; null: any, for staff */
async function request(
  sql: Database,
  id: string,
  accountId: string | null,
  also?: Also,
): Promise<Resend | ResendRefusal> {
  const answer = await requestResend(sql, id, accountId, accountId === null ? 'staff' : 'account', also);
  return typeof answer === 'string' ? refusalOf(answer) : answer;
}

/** Why staff cannot have an event delivered again now; null: they can. */
export async function refusalOfResend(sql: Sql, id: string): Promise<ResendRefusal | null> {
  const [event] = await readResends(sql, [id]);
  const why = whyNotResent(event);
  return why === null ? null : refusalOf(why);
}

/** Why an event is not delivered again. */
export function refusalOf(why: NotResent): ResendRefusal {
  switch (why) {
    case 'unknown':
      return { reason: 'event_unknown' };
    case 'no_webhook':
      return { reason: 'webhook_missing' };
    case 'pending':
    case 'under_way':
      return { reason: 'event_pending', again: why === 'under_way' };
    case 'too_often':
      return { reason: 'resends_used_up', limit: RESENDS_MAX };
    case 'too_many':
      return { reason: 'resends_at_once', limit: RESENDS_AT_ONCE, seconds: BUSY_SECONDS };
  }
}
