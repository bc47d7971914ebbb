import type { EmailStatus, RecipientState } from '../../domain/email/statuses.ts';
import type { Fragment, Sql } from '../connection.ts';

/** An e-mail as its account sees it. */
export interface EmailRow {
  id: string;
  status: EmailStatus;
  fromAddress: string;
  fromName: string | null;
  replyTo: string | null;
  subject: string;
  idx: string | null;
  /** 0 where test credits paid. */
  costGrosze: number;
  errorCode: string | null;
  sentAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
  recipients: { kind: 'to' | 'cc' | 'bcc'; address: string; state: RecipientState }[];
}

/** An e-mail with what happened to it. */
export interface EmailWithEvents extends EmailRow {
  /** How many more there were that are not kept. */
  eventsLeftOut: number;
  events: { kind: string; address: string | null; at: Date; details: Record<string, unknown> }[];
}

/** Which e-mails are wanted; null admits all. */
export interface EmailFilter {
  status: EmailStatus | null;
  idx: string | null;
  /** A recipient's address. */
  address: string | null;
  /** Only those before the one with this id. */
  before: string | null;
}

type EventInJson = Omit<EmailWithEvents['events'][number], 'at'> & { at: string };

// Of one e-mail; an open counts each time.
const EVENTS_SHOWN = 200;

/** E-mails of an account, newest first. */
export async function listEmails(
  sql: Sql,
  accountId: string,
  { status, idx, address, before }: EmailFilter,
  limit: number,
): Promise<EmailRow[]> {
  const only = (wanted: unknown, condition: Fragment): Fragment => (wanted === null ? sql`` : condition);
  return [
    ...(await sql<EmailRow[]>`
      select ${columns(sql)} from emails e
       where e.account_id = ${accountId}
         ${only(status, sql`and e.status = ${status}`)} ${only(idx, sql`and e.idx = ${idx}`)}
         ${only(before, sql`and e.id < ${before}`)}
         ${only(
           address,
           sql`and e.id in (select email_id from email_recipients
                             where account_id = ${accountId} and lower(address) = lower(${address}))`,
         )}
       order by e.id desc limit ${limit}`),
  ];
}

/** One e-mail of an account with its latest events, the oldest of them first; null when it has none of this id. */
export async function readEmail(sql: Sql, accountId: string, id: string): Promise<EmailWithEvents | null> {
  // In one statement: what is shown of the e-mail and of its events is of one moment.
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

/** As SQL, of e-mails `e`: their addresses with what is known of each, in their order. */
export function recipientsOf(sql: Sql): Fragment {
  return sql`
    (select coalesce(jsonb_agg(jsonb_build_object('kind', r.kind, 'address', r.address, 'state', r.state) order by r.position), '[]')
       from email_recipients r where r.email_id = e.id)`;
}
