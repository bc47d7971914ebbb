import type { Fragment, Sql } from '../connection.ts';
import { type OpenState, openState } from '../messages/openMessages.ts';
import { hasEnded } from '../maintenance/findings.ts';
import { startable, type StartableEmailRow } from './accept.ts';
import type { EmailStatus, RecipientState } from '../../domain/email/statuses.ts';
import type { TimelineEntry } from '../../domain/timeline.ts';

export type OpenEmail = StartableEmailRow & OpenState;

// An e-mail accepted just now may not have reached its workflow yet.
const SETTLED = '5 minutes';

/**
 * A page of all accounts' e-mails to be submitted, by account and id. Others need no workflow until an event starts one.
 * @param after `account/e-mail` of the last row of the previous page, or ''
 */
export async function openEmailsAfter(sql: Sql, after: string, limit: number): Promise<OpenEmail[]> {
  const [account = '', id = ''] = after.split('/');
  return await sql<OpenEmail[]>`
    select o.* from (select id from accounts where id >= ${account} order by id) a
     cross join lateral (
       select ${startable(sql)}, ${openState(sql)} from emails m
        where m.account_id = a.id and m.status = 'queued'
          and m.id > case when a.id = ${account} then ${id} else '' end
          and m.created_at < now() - ${SETTLED}::interval
        order by m.id limit ${limit}) o
     order by a.id, o.id limit ${limit}`;
}

export async function readOpenEmail(sql: Sql, id: string): Promise<OpenEmail | null> {
  const [email] = await sql<OpenEmail[]>`
    select ${startable(sql)}, ${openState(sql)} from emails m where m.id = ${id} and m.status = 'queued'`;
  return email ?? null;
}

export interface EmailRow {
  id: string;
  status: EmailStatus;
  fromAddress: string;
  fromName: string | null;
  replyTo: string | null;
  subject: string;
  idx: string | null;
  /** 0 when paid with test credits. */
  costGrosze: number;
  errorCode: string | null;
  sentAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
  recipients: { kind: 'to' | 'cc' | 'bcc'; address: string; state: RecipientState }[];
}

export interface EmailWithEvents extends EmailRow {
  /** Events beyond the limit, which are not stored. */
  eventsLeftOut: number;
  events: { kind: string; address: string | null; at: Date; details: Record<string, unknown> }[];
}

interface EmailFilter {
  status: EmailStatus | null;
  idx: string | null;
  address: string | null;
  before: string | null;
}

type EventInJson = Omit<EmailWithEvents['events'][number], 'at'> & { at: string };

// Per e-mail; every open counts.
const EVENTS_SHOWN = 200;

export async function listEmails(
  sql: Sql,
  accountId: string,
  { status, idx, address, before }: EmailFilter,
  limit: number,
): Promise<EmailRow[]> {
  const only = (wanted: unknown, condition: Fragment): Fragment => (wanted === null ? sql`` : condition);
  return await sql<EmailRow[]>`
    select ${columns(sql)} from emails e
     where e.account_id = ${accountId}
       ${only(status, sql`and e.status = ${status}`)} ${only(idx, sql`and e.idx = ${idx}`)}
       ${only(before, sql`and e.id < ${before}`)}
       ${only(
         address,
         sql`and e.id in (select email_id from email_recipients
                           where account_id = ${accountId} and lower(address) = lower(${address}))`,
       )}
     order by e.id desc limit ${limit}`;
}

/** One e-mail of an account with its latest events, oldest first; null when the account has none with this id. */
export async function readEmail(sql: Sql, accountId: string, id: string): Promise<EmailWithEvents | null> {
  // One statement, so that the e-mail and its events are of the same snapshot.
  const [email] = await sql<(Omit<EmailWithEvents, 'events'> & { events: EventInJson[] })[]>`
    select ${columns(sql)}, e.events_left_out,
           (select coalesce(jsonb_agg(jsonb_build_object('kind', kind, 'address', address, 'at', at, 'details', details)
                                      order by at, id), '[]')
              from (select id, kind, address, at, details from email_events where email_id = e.id
                     order by id desc limit ${EVENTS_SHOWN}) latest) as events
      from emails e where e.id = ${id} and e.account_id = ${accountId}`;
  return email ? { ...email, events: email.events.map((one) => ({ ...one, at: new Date(one.at) })) } : null;
}

function columns(sql: Sql): Fragment {
  return sql`
    e.id, e.status, e.from_address, e.from_name, e.reply_to, e.subject, e.idx,
    case when e.test_credits > 0 then 0 else e.cost_grosze end as cost_grosze, e.error_code, e.sent_at, e.created_at,
    e.updated_at,
    ${recipientsOf(sql)} as recipients`;
}

export function recipientsOf(sql: Sql): Fragment {
  return sql`
    (select coalesce(jsonb_agg(jsonb_build_object('kind', r.kind, 'address', r.address, 'state', r.state) order by r.position), '[]')
       from email_recipients r where r.email_id = e.id)`;
}

// Per kind; more come from a mail loop, not from normal processing.
const MANY = 200;

export interface EmailHead {
  id: string;
  accountId: string;
  requestId: string;
  status: EmailStatus;
  submission: string;
  errorCode: string | null;
  route: string;
  domain: string;
  providerEmailId: string | null;
  costGrosze: number;
  firstSubmittedAt: Date | null;
  sentAt: Date | null;
  giveUpAt: Date;
  erasedAt: Date | null;
  createdAt: Date;
  recipients: { kind: string; address: string; state: RecipientState }[];
  attachments: number;
  /** Staff may give it up. */
  waits: boolean;
}

/** As SQL, for e-mails `e`: waiting or unanswered, or being submitted by a workflow that has ended. */
export function mayBeGivenUp(sql: Sql): Fragment {
  return sql`
    (e.status = 'queued' and (e.submission in ('waiting', 'unanswered') or ${hasEnded(sql, sql`e.id`)}))`;
}

export async function readEmailHead(sql: Sql, id: string): Promise<EmailHead | null> {
  const [head] = await sql<EmailHead[]>`
    select id, account_id, request_id, status, submission, error_code, route, domain, provider_email_id, cost_grosze,
           first_submitted_at, sent_at, give_up_at, erased_at, created_at,
           ${recipientsOf(sql)} as recipients,
           (select count(*)::int from email_attachments f where f.email_id = e.id) as attachments,
           ${mayBeGivenUp(sql)} as waits
      from emails e where id = ${id}`;
  return head ?? null;
}

export async function readEmailTimeline(sql: Sql, head: EmailHead): Promise<TimelineEntry[]> {
  const { id, accountId } = head;
  const rows = await Promise.all([
    sql<TimelineEntry[]>`
      select created_at as at, case kind when 'charge' then 'charged' else 'refunded' end as kind,
             jsonb_build_object('amount_grosze', amount_grosze, 'test_credits', test_credits) as facts
        from ledger_entries where subject_id = ${id} and kind in ('charge', 'refund') order by ledger_entries.id`,
    sql<TimelineEntry[]>`
      select received_at as at, 'report' as kind,
             jsonb_build_object('route', route, 'id', event_id, 'event', kind, 'permanent', permanent,
                                'applied', applied_at is not null) as facts
        from provider_email_events where email_id = ${id} order by received_at limit ${MANY}`,
    sql<TimelineEntry[]>`
      select at, 'status' as kind, jsonb_build_object('status', kind) as facts from email_events
       where email_id = ${id} and kind in ('failed', 'suppressed', 'unsubscribed') order by id limit ${MANY}`,
    sql<TimelineEntry[]>`
      select created_at as at, 'webhook' as kind,
             jsonb_build_object('id', id, 'type', type, 'state', state) as facts
        from webhook_events where subject_kind = 'email' and subject_id = ${id} order by id limit ${MANY}`,
    sql<TimelineEntry[]>`
      select t.at, 'webhook_attempt' as kind,
             jsonb_build_object('id', t.event_id, 'attempt', t.attempt, 'status_code', t.status_code, 'error', t.error,
                                'duration_ms', t.duration_ms) as facts
        from webhook_events e join webhook_attempts t on t.event_id = e.id
       where e.subject_kind = 'email' and e.subject_id = ${id} order by t.at limit ${MANY}`,
    sql<TimelineEntry[]>`
      select r.requested_at as at, 'webhook_resend' as kind,
             jsonb_build_object('id', r.event_id, 'by', r.requested_by) as facts
        from webhook_events e join webhook_resends r on r.event_id = e.id
       where e.subject_kind = 'email' and e.subject_id = ${id} order by r.requested_at limit ${MANY}`,
    sql<TimelineEntry[]>`
      select at, 'staff' as kind, jsonb_build_object('action', action, 'actor', actor) as facts from audit_log
       where account_id = ${accountId} and subject = ${id} and action <> 'emails show' order by audit_log.id limit ${MANY}`,
  ]);
  const entries = [...ofHead(head), ...rows.flat()];
  return entries.sort((a, b) => a.at.getTime() - b.at.getTime());
}

function ofHead(head: EmailHead): TimelineEntry[] {
  const { requestId, recipients, route, createdAt, firstSubmittedAt, sentAt } = head;
  const moment = (at: Date | null, kind: string, facts: TimelineEntry['facts']): TimelineEntry[] =>
    at === null ? [] : [{ at, kind, facts }];
  return [
    ...moment(createdAt, 'requested', { request_id: requestId, addresses: recipients.length }),
    ...moment(firstSubmittedAt, 'handed_over', { route }),
    ...moment(sentAt, 'taken', { route, id: head.providerEmailId }),
  ];
}

type ListedEmail = Pick<
  EmailHead,
  'id' | 'accountId' | 'status' | 'submission' | 'errorCode' | 'route' | 'domain' | 'costGrosze' | 'createdAt'
> & { addresses: number };

export async function listEmailsForStaff(
  sql: Sql,
  { accountId, status }: { accountId: string; status: string | null },
  limit: number,
): Promise<ListedEmail[]> {
  return await sql<ListedEmail[]>`
    select id, account_id, status, submission, error_code, route, domain, cost_grosze, created_at,
           (select count(*)::int from email_recipients r where r.email_id = e.id) as addresses
      from emails e
     where account_id = ${accountId} and (${status}::text is null or status = ${status})
     order by id desc limit ${limit}`;
}
