import type { EmailStatus, RecipientState } from '../../domain/email/statuses.ts';
import type { TimelineEntry } from '../../domain/timeline.ts';
import type { Sql } from '../connection.ts';
import { recipientsOf } from './reads.ts';

// More than these are a loop of somebody's, not an e-mail's way.
const MANY = 200;

/** What staff see of an e-mail: nothing of its contents. */
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
}

/** The head of an accepted e-mail; null when there is none. */
export async function readEmailHead(sql: Sql, id: string): Promise<EmailHead | null> {
  const [head] = await sql<EmailHead[]>`
    select id, account_id, request_id, status, submission, error_code, route, domain, provider_email_id, cost_grosze,
           first_submitted_at, sent_at, give_up_at, erased_at, created_at,
           ${recipientsOf(sql)} as recipients,
           (select count(*)::int from email_attachments f where f.email_id = e.id) as attachments
      from emails e where id = ${id}`;
  return head ?? null;
}

/** The way of an e-mail, oldest first, as the database knows it: without addresses. */
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
  // The sort is stable.
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

/** An e-mail in a list for staff. */
export type ListedEmail = Pick<
  EmailHead,
  'id' | 'accountId' | 'status' | 'submission' | 'errorCode' | 'route' | 'domain' | 'costGrosze' | 'createdAt'
> & { addresses: number };

/** Accepted e-mails of an account, newest first. */
export async function listEmailsForStaff(
  sql: Sql,
  { accountId, status }: { accountId: string; status: string | null },
  limit: number,
): Promise<ListedEmail[]> {
  return [
    ...(await sql<ListedEmail[]>`
      select id, account_id, status, submission, error_code, route, domain, cost_grosze, created_at,
             (select count(*)::int from email_recipients r where r.email_id = e.id) as addresses
        from emails e
       where account_id = ${accountId} and (${status}::text is null or status = ${status})
       order by id desc limit ${limit}`),
  ];
}
