import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../db/connection.ts';
import {
  type DeliveryRow,
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
  type Act,
  type ActedOn,
  actOnEach,
  leftOf,
  recordedAfter,
  type Recorder,
  type StaffServices,
} from '../staff.ts';

const BUSY_SECONDS = 10;
// One account's events are delivered again some at a time: of many, the next ones wait for those before them.
const PLACE_WITHIN_MS = 60_000;
const LOOK_MS = 500;

/**
 * Delivers an event of the account's webhook again (our addition), with the usual attempts.
 * @returns the event as it is now
 * @throws Refused
 */
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

/** Delivers one event of any account again, for staff. @throws StaffRefused event_not_resent */
export const resendForStaff = recordedAfter('webhooks resend', async (services, { id }: { id: string }) => {
  const one = await resendOne(services.sql, id);
  if (one.carriedOut === false)
    throw new StaffRefused({ reason: 'event_not_resent', event: id, why: one.why });
  return { data: undefined, ...one.record };
});

/** Which events of those that nobody took; what is absent is any. */
export interface ExhaustedFilter {
  account?: string;
  type?: string;
  /** A message's id. */
  message?: string;
  /** Epoch milliseconds. */
  since?: number;
}

/** What came of asking for many. */
export interface ResentMany {
  /** Those that it is about. */
  events: DeliveryRow[];
  /** Of each of them, in that order; null where it was not agreed to. */
  outcome: ActedOn<ResendRefusal>[] | null;
}

/**
 * Delivers events again that nobody took, the newest first. Each has an audit record of its own, written right after it; a last one says
 * what was asked, and what was left.
 * @param agreed else nothing is done, and it only answers for which it would be
 * @throws StaffRefused
 */
export const resendExhausted = recordedAfter(
  'webhooks resend',
  async (services, input: { filter: ExhaustedFilter; limit: number; agreed: boolean }, record) => {
    const { filter, limit, agreed } = input;
    const events = await readExhausted(services.sql, filter, limit);
    const { account } = filter;
    if (!agreed) {
      const data: ResentMany = { events, outcome: null };
      return { data, account, details: { carried_out: false } };
    }
    const ids = events.map(({ id }) => id);
    const outcome = await resendAll(services, ids, record);
    const filters = { ...filter, ...(filter.since === undefined ? {} : { since: new Date(filter.since) }) };
    const resent = outcome.filter(({ carriedOut }) => carriedOut === true).length;
    const data: ResentMany = { events, outcome };
    return { data, account, details: { resent, left: leftOf(outcome), filters } };
  },
);

async function readExhausted(sql: Database, filter: ExhaustedFilter, limit: number): Promise<DeliveryRow[]> {
  const { account = null, type = null, message: messageId = null, since = null } = filter;
  if (account !== null) await findAccount(sql, account);
  const exhausted = { accountId: account, state: 'exhausted', type, messageId, since, before: null } as const;
  return await readDeliveries(sql, exhausted, limit);
}

/** Has events of any account delivered again, one after the other, for staff. */
export async function resendAll(
  services: StaffServices,
  ids: readonly string[],
  record: Recorder,
): Promise<ActedOn<ResendRefusal>[]> {
  return await actOnEach(ids, record, (id) => resendOne(services.sql, id));
}

async function resendOne(sql: Database, id: string): Promise<Act<ResendRefusal>> {
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

/**
 * Writes down that an event is to be delivered again; a worker starts its workflow.
 * @param accountId whose it has to be; null: anybody's, for staff
 */
async function request(sql: Database, id: string, accountId: string | null): Promise<Resend | ResendRefusal> {
  const answer = await requestResend(sql, id, accountId, accountId === null ? 'staff' : 'account');
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
