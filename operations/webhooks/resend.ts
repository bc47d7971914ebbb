import { setTimeout as delay } from 'node:timers/promises';
import type { Database, Sql } from '../../db/connection.ts';
import { readResendableSince } from '../../db/webhooks/exhausted.ts';
import {
  type DeliveryRow,
  nextResend,
  readDeliveries,
  readDelivery,
  requestResend,
  type Resend,
  RESENDS_AT_ONCE,
  RESENDS_MAX,
} from '../../db/webhooks/webhookDeliveries.ts';
import { Refused, type ResendRefusal, StaffRefused } from '../../domain/refusals.ts';
import { findAccount } from '../accounts/accounts.ts';
import type { OperationContext } from '../context.ts';
import {
  type ActOutcome,
  type ItemOutcome,
  actOnEach,
  notCarriedOut,
  recordedAfter,
  type Recorder,
  type StaffServices,
} from '../staff.ts';

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
  const one = await resendOne(services.sql, id);
  if (one.carriedOut === false)
    throw new StaffRefused({ reason: 'event_not_resent', event: id, why: one.why });
  return { data: undefined, ...one.record };
});

/** Selects exhausted events; absent fields match anything. */
interface ExhaustedFilter {
  account?: string;
  type?: string;
  message?: string;
  /** Epoch milliseconds. */
  since?: number;
}

/**
 * Delivers exhausted events again, newest first. Each gets its own audit record right after it; a final one has what was left.
 * @param agreed false: dry run
 * @returns the events and an outcome for each, in order; null in a dry run
 * @throws StaffRefused
 */
export const resendExhausted = recordedAfter(
  'webhooks resend',
  async (services, input: { filter: ExhaustedFilter; limit: number; agreed: boolean }, record) => {
    const { filter, limit, agreed } = input;
    const events = await readExhausted(services.sql, filter, limit);
    const { account } = filter;
    const ids = events.map(({ id }) => id);
    const outcome = agreed ? await resendAll(services, ids, record) : null;
    const data = { events, outcome };
    if (outcome === null) return { data, account, details: { carried_out: false } };
    const filters = { ...filter, ...(filter.since === undefined ? {} : { since: new Date(filter.since) }) };
    const resent = outcome.filter(({ carriedOut }) => carriedOut === true).length;
    const details = { resent, left: notCarriedOut(outcome), filters };
    return { data, account, details };
  },
);

async function readExhausted(sql: Database, filter: ExhaustedFilter, limit: number): Promise<DeliveryRow[]> {
  const { account = null, type = null, message: messageId = null, since = null } = filter;
  if (account !== null) await findAccount(sql, account);
  const exhausted = { accountId: account, state: 'exhausted', type, messageId, since, before: null } as const;
  return await readDeliveries(sql, exhausted, limit);
}

/** Requests redelivery of events of any account, one by one, for staff. */
export async function resendAll(
  services: StaffServices,
  ids: readonly string[],
  record: Recorder,
): Promise<ItemOutcome<ResendRefusal>[]> {
  return await actOnEach(ids, record, (id) => resendOne(services.sql, id));
}

async function resendOne(sql: Database, id: string): Promise<ActOutcome<ResendRefusal>> {
  const round = await requestWithin(sql, id, Date.now() + PLACE_WITHIN_MS);
  if ('reason' in round) return { carriedOut: false, why: round };
  const record = { account: round.accountId, subject: id, details: { round: round.round } };
  return { carriedOut: true, record };
}

async function requestWithin(sql: Database, id: string, deadline: number): Promise<Resend | ResendRefusal> {
  for (;;) {
    const round = await request(sql, id, null);
    const full = 'reason' in round && round.reason === 'resends_at_once';
    if (!full || Date.now() > deadline) return round;
    await delay(LOOK_MS);
  }
}

/** Records a redelivery request; a worker starts its workflow. @param accountId the event's owner; null: any, for staff */
async function request(sql: Database, id: string, accountId: string | null): Promise<Resend | ResendRefusal> {
  return inWords(await requestResend(sql, id, accountId, accountId === null ? 'staff' : 'account'));
}

/** Why staff cannot have an event delivered again now; null: they can. */
export async function refusalOfResend(sql: Sql, id: string): Promise<ResendRefusal | null> {
  const next = inWords(await nextResend(sql, id, null));
  return 'reason' in next ? next : null;
}

function inWords(answer: Awaited<ReturnType<typeof nextResend>>): Resend | ResendRefusal {
  switch (answer) {
    case 'unknown':
      return { reason: 'event_unknown' };
    case 'no_webhook':
      return { reason: 'webhook_missing' };
    case 'pending':
    case 'under_way':
      return { reason: 'event_pending', again: answer === 'under_way' };
    case 'too_often':
      return { reason: 'resends_used_up', limit: RESENDS_MAX };
    case 'too_many':
      return { reason: 'resends_at_once', limit: RESENDS_AT_ONCE, seconds: BUSY_SECONDS };
    default:
      return answer;
  }
}
