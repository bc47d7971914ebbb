import { comparableInstant } from '../../domain/instants.ts';
import type { Sql } from '../connection.ts';
import { idFloor } from '../ids.ts';

export const DELIVERY_STATES = ['pending', 'delivered', 'exhausted'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

// The clocks of processes differ by less: an event's id is made before its time is taken.
const ID_MARGIN_MS = 60_000;

/** Which events a page shows; null means any. */
export interface DeliveryFilter {
  accountId: string | null;
  state: DeliveryState | null;
  type: string | null;
  messageId: string | null;
  /** Epoch milliseconds; that very moment is taken in. */
  since: number | null;
  /** Only events older than the one with this id. */
  before: string | null;
  /** Only this event and later ones; all unless given. */
  from?: string | null;
}

/** One webhook event with what came of it. */
export interface DeliveryRow {
  id: string;
  accountId: string;
  type: string;
  messageId: string | null;
  /** Of an event of an e-mail. */
  emailId: string | null;
  /** `pending` also while it is delivered again. */
  state: DeliveryState;
  resends: number;
  createdAt: Date;
  attempts: DeliveryAttempt[];
}

export interface DeliveryAttempt {
  attempt: number;
  at: Date;
  url: string;
  statusCode: number | null;
  error: string | null;
  durationMs: number;
}

// Events stay, and what a filter does not find is looked for among all: a few milliseconds of the database.
const LOOKED_AT = 10_000;

/**
 * How far back one page looks for the events of an account that a filter lets through.
 * @returns the last event that is looked at; null: all of them, or all since the given instant
 */
export async function readLastLookedAt(
  sql: Sql,
  { accountId, state, type, messageId, since, before }: DeliveryFilter,
): Promise<string | null> {
  if (messageId !== null || (state === null && type === null)) return null;
  const [last] = await sql<{ id: string }[]>`
    select id from (${
      state === 'exhausted'
        ? sql`select event_id as id, account_id from webhook_exhausted`
        : sql`select id, account_id from webhook_events`
    }) e
     where account_id = ${accountId} ${before === null ? sql`` : sql`and id < ${before}`}
       ${since === null ? sql`` : sql`and id > ${idBefore(since)}`}
     order by id desc offset ${LOOKED_AT - 1} limit 1`;
  return last?.id ?? null;
}

/** A page of events, newest first. */
export async function readDeliveries(
  sql: Sql,
  filter: DeliveryFilter,
  limit: number,
): Promise<DeliveryRow[]> {
  const { accountId, state, type, messageId, before, from = null } = filter;
  const since = filter.since === null ? null : comparableInstant(filter.since);
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
             ? // Found in the table that holds these few, not by their state among all.
               sql`and not ${resending} and e.id in (
                     select x.event_id from webhook_exhausted x
                      where ${accountId === null ? sql`true` : sql`x.account_id = ${accountId}`})`
             : state === 'delivered'
               ? sql`and e.state = 'delivered' and not ${resending}`
               : sql`and (e.state = 'pending' or ${resending})`
       }
       ${type === null ? sql`` : sql`and e.type = ${type}`}
       ${messageId === null ? sql`` : sql`and e.subject_kind = 'message' and e.subject_id = ${messageId}`}
       ${since === null ? sql`` : sql`and e.created_at >= ${new Date(since)} and e.id > ${idBefore(since)}`}
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

// Below the ids of all events that happened at an instant or later.
function idBefore(instant: number): string {
  return idFloor('evt', instant - ID_MARGIN_MS);
}

/** One event; null when there is none of this id, or it is another account's. */
export async function readDelivery(
  sql: Sql,
  accountId: string | null,
  id: string,
): Promise<DeliveryRow | null> {
  const any = { accountId, state: null, type: null, messageId: null, since: null, before: null };
  // `~` is behind every character of an id: the first event at or before this one is itself, or it is not there.
  const [found] = await readDeliveries(sql, { ...any, before: `${id}~` }, 1);
  return found?.id === id ? found : null;
}
