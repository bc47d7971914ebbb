import { comparableInstant } from '../../domain/calendar.ts';
import { TEST_EVENT_TYPE } from '../../domain/webhooks.ts';
import { type Database, type Sql, withNamedLock } from '../connection.ts';
import { idFloor } from '../ids.ts';
import { isLate } from './unnotified.ts';
import { reserved } from '../money/reservations.ts';
import { deliveryId, endDelivery, isNotified, lastAttempt } from './webhooks.ts';

export const DELIVERY_STATES = ['pending', 'delivered', 'exhausted'] as const;
type DeliveryState = (typeof DELIVERY_STATES)[number];

// Clocks differ by less than this; an event's id is made before its time.
const ID_MARGIN_MS = 60_000;

interface DeliveryFilter {
  accountId: string | null;
  state: DeliveryState | null;
  type: string | null;
  messageId: string | null;
  /** Of an attempt. */
  statusCode?: number | null;
  /** Epoch milliseconds, inclusive. */
  since: number | null;
  /** Epoch milliseconds, exclusive. */
  until?: number | null;
  before: string | null;
  /** Only this event and later ones; all unless given. */
  from?: string | null;
}

export interface DeliveryRow {
  id: string;
  accountId: string;
  type: string;
  messageId: string | null;
  emailId: string | null;
  /** `pending` also during a resend. */
  state: DeliveryState;
  resends: number;
  createdAt: Date;
  attempts: DeliveryAttempt[];
}

interface DeliveryAttempt {
  attempt: number;
  at: Date;
  url: string;
  statusCode: number | null;
  error: string | null;
  durationMs: number;
}

// Limits the scan for a filter without an index to a few milliseconds.
const LOOKED_AT = 10_000;

/** Limits how far back a page scans for a filter. @returns the last event scanned; null: all, or all since the given instant */
export async function readScanEnd(
  sql: Sql,
  { accountId, state, type, statusCode = null, messageId, since, until, before }: DeliveryFilter,
): Promise<string | null> {
  if (messageId !== null || (state === null && type === null && statusCode === null)) return null;
  const [last] = await sql<{ id: string }[]>`
    select id from webhook_events
     where account_id = ${accountId} ${state === 'exhausted' ? sql`and exhausted_at is not null` : sql``}
       ${before === null ? sql`` : sql`and id < ${before}`}
       ${since === null ? sql`` : sql`and id > ${idBefore(since)}`}
       ${typeof until === 'number' ? sql`and id < ${idAfter(until)}` : sql``}
     order by id desc offset ${LOOKED_AT - 1} limit 1`;
  return last?.id ?? null;
}

export async function readDeliveries(
  sql: Sql,
  filter: DeliveryFilter,
  limit: number,
): Promise<DeliveryRow[]> {
  const { accountId, state, type, statusCode = null, messageId, before, from = null } = filter;
  const since = filter.since === null ? null : comparableInstant(filter.since);
  const until = typeof filter.until === 'number' ? comparableInstant(filter.until) : null;
  const resending = sql`exists (select from webhook_resends r where r.event_id = e.id and r.state = 'pending')`;
  const events = await sql<Omit<DeliveryRow, 'attempts'>[]>`
    select e.id, e.account_id, e.type, case when e.subject_kind = 'message' then e.subject_id end as message_id,
           case when e.subject_kind = 'email' then e.subject_id end as email_id, e.created_at,
           case when ${resending} then 'pending' else e.state end as state,
           (select count(*)::int from webhook_resends r where r.event_id = e.id) as resends
      from webhook_events e
     where true
       ${accountId === null ? sql`` : sql`and e.account_id = ${accountId}`}
       ${
         state === null
           ? sql``
           : state === 'exhausted'
             ? // Uses the index of exhausted events.
               sql`and not ${resending} and e.exhausted_at is not null`
             : state === 'delivered'
               ? sql`and e.state = 'delivered' and not ${resending}`
               : sql`and (e.state = 'pending' or ${resending})`
       }
       ${type === null ? sql`` : sql`and e.type = ${type}`}
       ${statusCode === null ? sql`` : sql`and exists (select from webhook_attempts t where t.event_id = e.id and t.status_code = ${statusCode})`}
       ${messageId === null ? sql`` : sql`and e.subject_kind = 'message' and e.subject_id = ${messageId}`}
       ${since === null ? sql`` : sql`and e.created_at >= ${new Date(since)} and e.id > ${idBefore(since)}`}
       ${until === null ? sql`` : sql`and e.created_at < ${new Date(until)} and e.id < ${idAfter(until)}`}
       ${before === null ? sql`` : sql`and e.id < ${before}`}
       ${from === null ? sql`` : sql`and e.id >= ${from}`}
     order by e.id desc limit ${limit}`;
  const attempts = await sql<(DeliveryAttempt & { eventId: string })[]>`
    select event_id, attempt, at, url, status_code, error, duration_ms
      from webhook_attempts where event_id = any(${events.map(({ id }) => id)}) order by event_id, attempt`;
  return events.map((event) => ({
    ...event,
    attempts: attempts
      .filter(({ eventId }) => eventId === event.id)
      .map(({ eventId: _, ...attempt }) => attempt),
  }));
}

function idBefore(instant: number): string {
  return idFloor('evt', instant - ID_MARGIN_MS);
}

function idAfter(instant: number): string {
  return idFloor('evt', instant + ID_MARGIN_MS);
}

export async function readDelivery(
  sql: Sql,
  accountId: string | null,
  id: string,
): Promise<DeliveryRow | null> {
  const any = { accountId, state: null, type: null, messageId: null, since: null, before: null };
  // `~` sorts after every character of an id, so the first event at or before this one is itself, if it exists.
  const [found] = await readDeliveries(sql, { ...any, before: `${id}~` }, 1);
  return found?.id === id ? found : null;
}

/** An attempt with what was sent and answered; null: not kept, or erased. */
export interface Exchange extends DeliveryAttempt {
  sentHeaders: string | null;
  answerHeaders: string | null;
  answer: string | null;
}

/** The attempts to deliver an event, the first one first. */
export async function readExchanges(sql: Sql, eventId: string): Promise<Exchange[]> {
  return await sql<Exchange[]>`
    select attempt, at, url, status_code, error, duration_ms, sent_headers, answer_headers, answer
      from webhook_attempts where event_id = ${eventId} order by attempt`;
}

/** Tests of its webhook that an account has asked for since an instant, epoch milliseconds; the newest of its events are looked at. */
export async function countTestEvents(sql: Sql, accountId: string, since: number): Promise<number> {
  const [counted] = await sql<{ events: number }[]>`
    select count(*)::int as events from webhook_events
     where account_id = ${accountId} and id >= ${idFloor('evt', since)} and type = ${TEST_EVENT_TYPE}`;
  return counted!.events;
}

export const RESENDS_MAX = 10;
/** Maximum of concurrent resends per account: each may occupy a worker while a receiver hangs. */
export const RESENDS_AT_ONCE = 20;

export interface Resend {
  eventId: string;
  accountId: string;
  round: number;
}

type ResendRefusal = 'unknown' | 'no_webhook' | 'pending' | 'under_way' | 'too_often' | 'too_many';

/** Requests a resend of an event, also of one that its workflow abandoned minutes ago. @param accountId its owner; null: any */
export async function requestResend(
  sql: Database,
  eventId: string,
  accountId: string | null,
  by: 'account' | 'staff',
): Promise<Resend | ResendRefusal> {
  const account = await accountOf(sql, eventId, accountId);
  if (account === null) return 'unknown';
  // Serialized per account, so that the limits hold.
  return await withNamedLock(sql, `webhook resends of ${account}`, async (tx) => {
    const next = await nextResend(tx, eventId, accountId);
    if (typeof next === 'string') return next;
    await endDelivery(tx, { id: eventId, round: 0 }, 'exhausted');
    await tx`
      insert into webhook_resends (event_id, round, account_id, requested_by, attempts_before)
      values (${eventId}, ${next.round}, ${next.accountId}, ${by}, ${lastAttempt(tx, tx`${eventId}`)})`;
    await reserved(
      tx,
      'resend',
      tx`select ${deliveryId(eventId, next.round)}::text as id, ${next.accountId}::text as account_id`,
    );
    return next;
  });
}

/** The resend that could be requested of an event now, or why none. @param accountId its owner; null: any */
export async function nextResend(
  sql: Sql,
  eventId: string,
  accountId: string | null,
): Promise<Resend | ResendRefusal> {
  const [event] = await sql<{ accountId: string; state: string; late: boolean; notified: boolean }[]>`
    select e.account_id, e.state, ${isLate(sql)} as late, ${isNotified(sql)} as notified
      from webhook_events e join accounts a on a.id = e.account_id
     where e.id = ${eventId} and (${accountId}::text is null or e.account_id = ${accountId})`;
  if (!event) return 'unknown';
  if (event.state === 'pending' && !event.late) return 'pending';
  if (!event.notified) return 'no_webhook';
  const [before] = await sql<{ rounds: number; open: boolean; atOnce: number }[]>`
    select count(*)::int as rounds, coalesce(bool_or(state = 'pending'), false) as open,
           (select count(*)::int from webhook_resends
             where account_id = ${event.accountId} and state = 'pending') as at_once
      from webhook_resends where event_id = ${eventId}`;
  if (before!.open) return 'under_way';
  if (before!.rounds >= RESENDS_MAX) return 'too_often';
  if (before!.atOnce >= RESENDS_AT_ONCE) return 'too_many';
  return { eventId, accountId: event.accountId, round: before!.rounds + 1 };
}

async function accountOf(sql: Sql, eventId: string, accountId: string | null): Promise<string | null> {
  const [event] = await sql<{ accountId: string }[]>`
    select account_id from webhook_events
     where id = ${eventId} and (${accountId}::text is null or account_id = ${accountId})`;
  return event?.accountId ?? null;
}
