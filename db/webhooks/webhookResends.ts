import type { Database, Sql } from '../connection.ts';
import { withNamedLock } from '../namedLocks.ts';
import { isLate } from './unnotified.ts';
import { exhaustEvent, isNotified, lastAttempt } from './webhooks.ts';

/** How often one event is delivered again on request, in all. */
export const RESENDS_MAX = 10;
/** How many events of one account are on their way again at the same time: a receiver that hangs holds a worker's place for each. */
export const RESENDS_AT_ONCE = 20;

/** A further delivery of an event, to be carried out by its `resend` workflow. */
export interface Resend {
  eventId: string;
  accountId: string;
  /** From 1. */
  round: number;
}

/** Why an event is not delivered again. */
export type ResendRefusal = 'unknown' | 'no_webhook' | 'pending' | 'under_way' | 'too_often' | 'too_many';

/**
 * Writes down that an event is to be delivered again. One that is pending for minutes was left by its workflow: nobody
 * took it, and this is its way from now on.
 * @param accountId whose the event has to be; null: anybody's
 */
export async function requestResend(
  sql: Database,
  eventId: string,
  accountId: string | null,
  by: 'account' | 'staff',
): Promise<Resend | ResendRefusal> {
  const account = await accountOf(sql, eventId, accountId);
  if (account === null) return 'unknown';
  // One after the other for an account, so that the numbers below hold.
  return await withNamedLock(sql, `webhook resends of ${account}`, async (tx) => {
    const [event] = await tx<{ accountId: string; state: string; late: boolean; notified: boolean }[]>`
      select e.account_id, e.state, ${isLate(tx)} as late, ${isNotified(tx)} as notified
        from webhook_events e join accounts a on a.id = e.account_id
       where e.id = ${eventId} and (${accountId}::text is null or e.account_id = ${accountId})`;
    if (!event) return 'unknown';
    if (event.state === 'pending' && !event.late) return 'pending';
    if (!event.notified) return 'no_webhook';
    const [before] = await tx<{ rounds: number; open: boolean; atOnce: number }[]>`
      select count(*)::int as rounds, coalesce(bool_or(state = 'pending'), false) as open,
             (select count(*)::int from webhook_resends
               where account_id = ${event.accountId} and state = 'pending') as at_once
        from webhook_resends where event_id = ${eventId}`;
    if (before!.open) return 'under_way';
    if (before!.rounds >= RESENDS_MAX) return 'too_often';
    if (before!.atOnce >= RESENDS_AT_ONCE) return 'too_many';
    const round = before!.rounds + 1;
    await exhaustEvent(tx, eventId);
    await tx`
      insert into webhook_resends (event_id, round, account_id, requested_by, attempts_before)
      values (${eventId}, ${round}, ${event.accountId}, ${by}, ${lastAttempt(tx, tx`${eventId}`)})`;
    if (round === RESENDS_MAX)
      await tx`update webhook_exhausted set used_up = true where event_id = ${eventId}`;
    return { eventId, accountId: event.accountId, round };
  });
}

async function accountOf(sql: Sql, eventId: string, accountId: string | null): Promise<string | null> {
  const [event] = await sql<{ accountId: string }[]>`
    select account_id from webhook_events
     where id = ${eventId} and (${accountId}::text is null or account_id = ${accountId})`;
  return event?.accountId ?? null;
}

/** The number of the last attempt before a round; null when the round has ended, undefined when it never was. */
export async function attemptsBefore(
  sql: Sql,
  eventId: string,
  round: number,
): Promise<number | null | undefined> {
  const [found] = await sql<{ before: number | null }[]>`
    select case when state = 'pending' then attempts_before end as before from webhook_resends
     where event_id = ${eventId} and round = ${round}`;
  return found?.before;
}

/** Ends a round. An event that nobody had taken before counts as delivered from then on. */
export async function endResend(
  sql: Sql,
  eventId: string,
  round: number,
  state: 'delivered' | 'exhausted',
): Promise<void> {
  await sql`
    with ended as (
      update webhook_resends set state = ${state}, finished_at = now()
       where event_id = ${eventId} and round = ${round} and state = 'pending'
      returning event_id
    )
    update webhook_events set state = 'delivered'
     where id in (select event_id from ended) and ${state} = 'delivered' and state = 'exhausted'`;
}

/** A round that has not ended, and where it stands among the others. */
export interface FoundResend extends Resend {
  /** To the microsecond, which a `Date` is not. */
  at: string;
}

/** Rounds that were asked for some seconds ago and have not ended, the oldest first, after a given one (null for the first page). */
export async function openResendsAfter(
  sql: Sql,
  olderThanSeconds: number,
  after: FoundResend | null,
  limit: number,
): Promise<FoundResend[]> {
  const { at, eventId, round } = after ?? { at: '-infinity', eventId: '', round: 0 };
  return [
    ...(await sql<FoundResend[]>`
      select event_id, account_id, round, requested_at::text as at from webhook_resends
       where state = 'pending' and requested_at < now() - make_interval(secs => ${olderThanSeconds})
         and (requested_at, event_id, round) > (${at}::text::timestamptz, ${eventId}, ${round})
       order by requested_at, event_id, round limit ${limit}`),
  ];
}

/** Those of some rounds that have not ended. */
export async function openResendsAmong(sql: Sql, resends: readonly Resend[]): Promise<Resend[]> {
  return [
    ...(await sql<Resend[]>`
      select r.event_id, r.account_id, r.round
        from unnest(${resends.map(({ eventId }) => eventId)}::text[], ${resends.map(({ round }) => round)}::int[])
               as asked(event_id, round)
        join webhook_resends r using (event_id, round)
       where r.state = 'pending'`),
  ];
}
