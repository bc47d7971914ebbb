import type postgres from 'postgres';
import type { EmailStatus, ProviderEmailEvent, RecipientState } from '../../domain/email/statuses.ts';
import type { NotifiedEmailEvent } from '../../domain/email/dns.ts';
import type { ReportedRecipient, SuppressionCandidate } from '../../domain/email/reports.ts';
import { newId } from '../ids.ts';
import { type Database, type Fragment, type Sql, withNamedLock } from '../connection.ts';
import { reportNoted } from '../routes/routes.ts';
import { orStrongerReason } from './suppressions.ts';
import type { EmailEventSnapshot } from '../webhooks/webhooks.ts';

// An event can precede the response to the submit, but not by a day.
const MATCHED_WITHIN = '24 hours';
// Stored per e-mail: reports received at its return path, which anybody can send; and opens, or clicks.
const MAX_UNVERIFIED_EVENTS = 100;
const MAX_READ_EVENTS = 1_000;
// After this, another worker may deliver an applied event to the workflow; the first one has probably died.
const SIGNALLED_WITHIN = '15 seconds';

/**
 * Stores provider events as received, ignoring duplicates. Events that outsiders can repeat (opens, clicks, reports at the return path) are
 * limited per e-mail, exactly even under concurrency by a named lock; those beyond are only counted.
 */
export async function storeEmailEvents(
  sql: Database,
  route: string,
  events: readonly ProviderEmailEvent[],
): Promise<void> {
  for (const run of runsOf(events)) {
    const [first] = run;
    if (eventLimit(first) === null) {
      await insertEmailEvents(sql, route, run);
      continue;
    }
    const owner = await ownerOf(sql, route, first);
    await withNamedLock(sql, `events of ${route} ${owner ?? first.providerEmailId}`, async (tx) => {
      for (const event of run) await storeWithinBound(tx, route, event, owner);
    });
  }
  // Outside the named locks, so that other reports do not wait for these e-mails.
  if (events.length > 0) await sql`${reportNoted(sql, route)}`;
}

type Run = [ProviderEmailEvent, ...ProviderEmailEvent[]];

/** Splits events into runs, in their order: consecutive events without a limit, or of the same e-mail. */
function runsOf(events: readonly ProviderEmailEvent[]): Run[] {
  const turnOf = (event: ProviderEmailEvent): string =>
    eventLimit(event) === null ? '' : `${event.emailId} ${event.providerEmailId}`;
  const runs: Run[] = [];
  for (const event of events) {
    const last = runs.at(-1);
    if (last !== undefined && turnOf(last[0]) === turnOf(event)) last.push(event);
    else runs.push([event]);
  }
  return runs;
}

export async function insertEmailEvents(
  sql: Sql,
  route: string,
  events: readonly ProviderEmailEvent[],
): Promise<void> {
  const always: Fragment = sql`true`;
  for (const event of events) await sql`${insertion(sql, route, event, always)}`;
}

function insertion(sql: Sql, route: string, event: ProviderEmailEvent, where: Fragment): Fragment {
  return sql`
    insert into provider_email_events (route, event_id, email_id, provider_email_id, kind, permanent, addresses, names_all_to, at,
                                       payload, unverified)
    select ${route}, ${event.eventId}, ${event.emailId}, ${event.providerEmailId}, ${event.kind}, ${event.permanent}::boolean,
           ${event.addresses as string[]}::text[], ${event.namesAllTo ?? false}::boolean, ${event.at}::timestamptz,
           ${sql.json(event.payload as postgres.JSONValue)}::jsonb, ${event.unverified ?? false}::boolean
     where ${where}
    on conflict (route, event_id) do nothing`;
}

function eventLimit({ kind, unverified }: ProviderEmailEvent): number | null {
  if (unverified === true) return MAX_UNVERIFIED_EVENTS;
  return kind === 'opened' || kind === 'clicked' ? MAX_READ_EVENTS : null;
}

/** The id of the e-mail that an event belongs to. If it is unknown, the id in the event is used: the row may not exist yet. */
async function ownerOf(
  sql: Sql,
  route: string,
  { emailId, providerEmailId }: ProviderEmailEvent,
): Promise<string | null> {
  const [found] = await sql<{ emailId: string | null }[]>`
    select ${matchOf(sql, sql`${route}`, sql`${emailId}`, sql`${providerEmailId}`)} as email_id`;
  return found?.emailId ?? emailId;
}

/** Stores an event if its e-mail is below the limit, else counts it. The caller holds the named lock of the e-mail's events. */
async function storeWithinBound(
  tx: Sql,
  route: string,
  event: ProviderEmailEvent,
  owner: string | null,
): Promise<void> {
  const { eventId, providerEmailId, kind, unverified } = event;
  const same = unverified === true ? tx`unverified` : tx`kind = ${kind} and not unverified`;
  const most = eventLimit(event);
  const hasRoom: Fragment = tx`
    (select count(*) from (
       (select from provider_email_events where email_id = ${owner} and ${same} limit ${most})
       union all
       (select from provider_email_events
         where route = ${route} and provider_email_id = ${providerEmailId} and applied_at is null and email_id is null and ${same}
         limit ${most})) kept) < ${most}`;
  await tx`
    with stored as (${insertion(tx, route, { ...event, emailId: owner }, hasRoom)} returning event_id)
    update emails set events_left_out = events_left_out + 1
     where id = ${owner} and not exists (select from stored)
       and not exists (select from provider_email_events where route = ${route} and event_id = ${eventId})`;
}

function matchOf(sql: Sql, route: Fragment, emailId: Fragment, providerEmailId: Fragment): Fragment {
  return sql`
    coalesce(
      (select e.id from emails e where e.id = ${emailId} and e.route = ${route}),
      (select e.id from emails e
        where e.route = ${route} and e.provider_email_id = ${providerEmailId} limit 1))`;
}

export interface DueEvent extends Omit<ProviderEmailEvent, 'payload' | 'emailId'> {
  route: string;
  emailId: string | null;
  /** Applied before; only the webhook notification is pending. */
  applied: boolean;
  webhookEvent: string | null;
}

/** Locks due events until the transaction ends, oldest first, skipping locked ones. */
export async function takeDueEvents(tx: Sql, limit: number): Promise<DueEvent[]> {
  return await tx<DueEvent[]>`
    select v.route, v.event_id, v.provider_email_id, v.kind, v.permanent, v.addresses, v.names_all_to, v.at, v.unverified, v.webhook_event,
           v.applied_at is not null as applied,
           ${matchOf(tx, tx`v.route`, tx`v.email_id`, tx`v.provider_email_id`)} as email_id
      from provider_email_events v where v.look_at <= now()
     order by v.look_at, v.at limit ${limit} for update of v skip locked`;
}

/** Retries events of unknown e-mails later; after a day they are left to staff. */
export async function postponeEvents(tx: Sql, events: readonly DueEvent[]): Promise<void> {
  if (events.length === 0) return;
  await tx`
    update provider_email_events v
       set look_at = case when v.received_at > now() - ${MATCHED_WITHIN}::interval
                          then now() + greatest(interval '1 s', (now() - v.received_at) / 2) end
      ${matchingEvents(tx, events)}`;
}

/** Leases events that another worker applied but did not signal. */
export async function leaseEvents(tx: Sql, events: readonly DueEvent[]): Promise<void> {
  if (events.length === 0) return;
  await tx`
    update provider_email_events v set look_at = now() + ${SIGNALLED_WITHIN}::interval
      ${matchingEvents(tx, events)}`;
}

export interface LockedEmail {
  id: string;
  accountId: string;
  status: EmailStatus;
  erased: boolean;
  from: string;
  notifies: boolean;
  recipients: ReportedRecipient[];
}

export async function lockEmails(tx: Sql, ids: readonly string[]): Promise<LockedEmail[]> {
  await tx`select from emails where id = any(${ids as string[]}::text[]) order by id for update`;
  return await tx<LockedEmail[]>`
    select e.id, e.account_id, e.status, e.erased_at is not null as erased, e.from_address as from, a.legacy_webhook_url is not null as notifies,
           (select jsonb_agg(jsonb_build_object('position', r.position, 'kind', r.kind, 'address', r.address, 'state', r.state)
                             order by r.position)
              from email_recipients r where r.email_id = e.id) as recipients
      from emails e join accounts a on a.id = e.account_id where e.id = any(${ids as string[]}::text[])`;
}

export interface AppliedEvent {
  event: DueEvent;
  emailId: string;
  accountId: string;
  status: EmailStatus;
  moves: readonly { position: number; state: RecipientState }[];
  /** Positions of the recipients that the webhook names. */
  named: readonly number[];
  /** The address, if the event concerns exactly one and it is not erased. */
  address: string | null;
  /** Nothing of the provider's payload may be kept. */
  erased: boolean;
  suppress: SuppressionCandidate | null;
  notifies: boolean;
}

/**
 * Applies an event to its e-mail, once. It proves that the provider has the e-mail, but not that all its recipients were submitted, so the
 * files stay until the response or clean-up.
 */
export async function applyEvent(tx: Sql, applied: AppliedEvent): Promise<void> {
  const { event, emailId, accountId, status, moves, named, address, erased, suppress, notifies } = applied;
  const webhookEvent = notifies ? newId('evt') : null;
  await tx`
    with email as (
      update emails
         set status = ${status}, submission = 'answered', provider_email_id = coalesce(provider_email_id, ${event.providerEmailId}),
             sent_at = case when status in ('failed', 'suppressed') then sent_at else coalesce(sent_at, ${event.at}) end, updated_at = now()
       where id = ${emailId}
    ), moved as (
      update email_recipients r set state = m.state
        from unnest(${moves.map(({ position }) => position)}::int[], ${moves.map(({ state }) => state)}::text[]) as m(position, state)
       where r.email_id = ${emailId} and r.position = m.position
    ), shown as (
      insert into email_events (email_id, kind, address, at, details)
      select ${emailId}, kind, ${address}, at,
             case when permanent is null then '{}'::jsonb else jsonb_build_object('permanent', permanent) end
        from provider_email_events where route = ${event.route} and event_id = ${event.eventId}
    ), suppressed as (
      insert into suppressions (account_id, address, reason, email_id)
      select ${accountId}, ${suppress?.address ?? null}, ${suppress?.reason ?? null}, ${emailId}
       where ${suppress !== null} and (not ${suppress?.ifRepeated ?? false} or ${wasReported(tx, applied)})
      ${orStrongerReason(tx)}
    ), noted as (
      insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot)
      select ${webhookEvent}::text, ${accountId}, 'email', ${emailId}, 'email_event',
             jsonb_build_object('route', ${event.route}::text, 'event_id', ${event.eventId}::text,
                                'positions', ${named as number[]}::int[])
       where ${webhookEvent}::text is not null
    )
    update provider_email_events
       set email_id = ${emailId}, applied_at = now(), webhook_event = ${webhookEvent},
           addresses = case when ${erased} then '{}' else addresses end,
           payload = case when ${erased} then '{}' else payload end,
           look_at = case when ${webhookEvent}::text is null then null else now() + ${SIGNALLED_WITHIN}::interval end
     where route = ${event.route} and event_id = ${event.eventId}`;
  event.webhookEvent = webhookEvent;
}

/** Marks events as done that concern no e-mail or webhook. */
export async function dismissEvents(tx: Sql, events: readonly DueEvent[]): Promise<void> {
  if (events.length === 0) return;
  await tx`
    update provider_email_events v set applied_at = now(), addresses = '{}', payload = '{}', look_at = null
      ${matchingEvents(tx, events)}`;
}

function wasReported(tx: Sql, { event, emailId, accountId, suppress }: AppliedEvent): Fragment {
  return tx`
    exists (select from email_recipients r join email_events v on v.email_id = r.email_id
             where lower(r.address) = ${suppress?.address ?? null} and r.account_id = ${accountId} and r.email_id <> ${emailId}
               and v.kind = ${event.kind} and lower(v.address) = lower(r.address)
               and v.details->'permanent' is not distinct from to_jsonb(${event.permanent}::boolean))`;
}

export async function settleEvents(
  sql: Sql,
  events: readonly Pick<DueEvent, 'route' | 'eventId'>[],
): Promise<void> {
  if (events.length === 0) return;
  await sql`
    update provider_email_events v set look_at = null
      ${matchingEvents(sql, events)}`;
}

function matchingEvents(sql: Sql, events: readonly Pick<DueEvent, 'route' | 'eventId'>[]): Fragment {
  return sql`
      from unnest(${events.map(({ route }) => route)}::text[], ${events.map(({ eventId }) => eventId)}::text[]) as e(route, id)
     where v.route = e.route and v.event_id = e.id`;
}

/** Reads the event that a webhook is notified of, with its e-mail; an erased one contains no personal data. */
export async function readNotifiedEvent(
  sql: Sql,
  emailId: string,
  { route, event_id: eventId, positions }: EmailEventSnapshot,
): Promise<NotifiedEmailEvent> {
  const [row] = await sql<NotifiedEmailEvent[]>`
    select v.kind, e.id as email_id, e.from_address, e.subject, e.idx, v.received_at, v.payload,
           array(select r.address from email_recipients r
                  where r.email_id = e.id
                    and ${positions === undefined ? sql`r.kind = 'to'` : sql`r.position = any(${positions as number[]}::int[])`}
                  order by r.position) as "to"
      from provider_email_events v join emails e on e.id = ${emailId}
     where v.route = ${route} and v.event_id = ${eventId}`;
  if (!row) throw new Error(`an event of ${emailId} not found`);
  return row;
}
