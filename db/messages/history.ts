import type { MessageRow } from '../../domain/records.ts';
import type { MessageStatus } from '../../domain/statuses.ts';
import type { Fragment, Sql } from '../connection.ts';
import { idFloor } from '../ids.ts';
import type { HistoryClass, LoggedRow, PageRange } from '../../domain/earlier.ts';
import type { AttemptFacts, InternalFacts, MessageFacts, PartFacts } from '../../domain/timeline.ts';

interface HistoryFilter {
  status: MessageStatus | null;
  reference: string | null;
  /** E.164 with plus. */
  recipient: string | null;
  /** Accepted at or after, and before: epoch milliseconds. */
  since: number | null;
  until: number | null;
  before: string | null;
}

// How far the clocks of an API, which makes the ids, and of the database may be apart.
const CLOCKS_MS = 3_600_000;

/** A page of the account's messages, newest first (v2.3.0, History and status). */
export async function readHistory(
  sql: Sql,
  accountId: string,
  filter: HistoryFilter,
  limit: number,
): Promise<MessageRow[]> {
  const { status, reference, recipient, since, until, before } = filter;
  return await sql<MessageRow[]>`
    select ${columns(sql)} from messages
     where account_id = ${accountId}
       ${status === null ? sql`` : sql`and status = ${status}`}
       ${reference === null ? sql`` : sql`and reference = ${reference}`}
       ${recipient === null ? sql`` : sql`and recipient = ${recipient}`}
       ${since === null ? sql`` : sql`and id >= ${idFloor('msg', since - CLOCKS_MS)} and created_at >= ${new Date(since)}`}
       ${until === null ? sql`` : sql`and id < ${idFloor('msg', until + CLOCKS_MS)} and created_at < ${new Date(until)}`}
       ${before === null ? sql`` : sql`and id < ${before}`}
     order by id desc limit ${limit}`;
}

/** Messages of the account by their ids, in no order. */
export async function readMessages(
  sql: Sql,
  accountId: string,
  ids: readonly string[],
): Promise<MessageRow[]> {
  return await sql<MessageRow[]>`
    select ${columns(sql)} from messages where id = any(${ids as string[]}::text[]) and account_id = ${accountId}`;
}

export async function readMessage(sql: Sql, accountId: string, id: string): Promise<MessageRow | null> {
  const [message] = await sql<MessageRow[]>`
    select ${columns(sql)} from messages
     where id = ${id} and account_id = ${accountId}`;
  return message ?? null;
}

function columns(sql: Sql) {
  return sql`id, channel, status, recipient, sender, text, content, parts, cost_grosze, priority, reference, send_at, expires_at,
             delivered_at, error_code, created_at, updated_at`;
}

// v1.2.0, MessageLog, message_preview.
const PREVIEW_CHARACTERS = 160;

/**
 * A page of the v1.2.0 history, newest first (v1.2.0, GET /v1/messages): messages accepted for sending through any interface. Merges one
 * index range per class, reading at most `limit` rows of each.
 */
export async function readEarlierHistory(
  sql: Sql,
  accountId: string,
  classes: readonly HistoryClass[],
  { from, before }: PageRange,
  limit: number,
): Promise<LoggedRow[]> {
  if (classes.length === 0 || from >= before) return [];
  const ranges = classes.map(
    (one) => sql`
      (select ${earlierColumns(sql)} from messages
        where account_id = ${accountId} and ${classOf(sql)} = ${one} and sent_key >= ${from} and sent_key < ${before}
        order by sent_key desc limit ${limit})`,
  );
  const all = ranges.reduce((one, other) => sql`${one} union all ${other}`);
  return await sql<LoggedRow[]>`
    select ${earlierColumns(sql)}, left(text, ${PREVIEW_CHARACTERS}) as preview,
           (select p.provider_message_id from message_parts p
             where p.message_id = page.id order by p.part limit 1) as provider_message_id
      from (select * from (${all}) merged order by sent_key desc limit ${limit}) page
     order by sent_key desc`;
}

function earlierColumns(sql: Sql): Fragment {
  return sql`id, channel, sender, recipient, text, parts, cost_grosze, status, error_code, submission, idx, sent_key, delivered_at,
             updated_at`;
}

// The same expression as in the index, equivalent to `historyClassOf`.
function classOf(sql: Sql): Fragment {
  return sql`history_class(status, error_code, submission)`;
}

// Per kind; more come from a loop, not from normal processing.
const MANY = 200;

/** Everything stored about an accepted message; null when there is none. @param accountId restricts it to an account; null: any */
export async function readFacts(
  sql: Sql,
  id: string,
  accountId: string | null,
): Promise<MessageFacts | null> {
  const [message] = await sql<(MessageFacts['message'] & { recipient: string })[]>`
    select id, account_id, request_id, status, accepted_as, route, parts, send_at, error_code,
           delivered_at, created_at, updated_at, recipient
      from messages
     where id = ${id}
       and (${accountId}::text is null or account_id = ${accountId})`;
  if (!message) return null;
  const { recipient, ...known } = message;
  const account = message.accountId;
  const [ledger, moves, parts, webhooks, attempts, resends, replies, clicks, optedOut] = await Promise.all([
    sql<MessageFacts['ledger']>`
      select created_at as at, kind, amount_grosze, test_credits
        from ledger_entries where subject_id = ${id} and kind in ('charge', 'refund') order by ledger_entries.id`,
    sql<MessageFacts['moves']>`
      select at, from_route as "from", to_route as "to" from message_moves
       where message_id = ${id} order by message_moves.id limit ${MANY}`,
    sql<PartFacts[]>`
      select part, state, tries, route, provider_message_id, answer_code as code,
             submitted_at, answered_at, report_state, reported_at
        from message_parts where message_id = ${id} order by part`,
    sql<MessageFacts['webhooks']>`
      select created_at as at, id, type, state from webhook_events where subject_id = ${id} order by created_at`,
    sql<AttemptFacts[]>`
      select t.at, t.event_id, e.type, t.attempt, t.status_code, t.error, t.duration_ms
        from webhook_events e join webhook_attempts t on t.event_id = e.id
       where e.subject_id = ${id} order by t.at limit ${MANY}`,
    sql<MessageFacts['resends']>`
      select r.requested_at as at, r.event_id, r.requested_by as by
        from webhook_events e join webhook_resends r on r.event_id = e.id
       where e.subject_id = ${id} order by r.requested_at limit ${MANY}`,
    // By sender, for the index.
    sql<MessageFacts['replies']>`
      select received_at as at, id, opt_out from inbound_messages
       where account_id = ${account} and sender = ${recipient} and reply_to = ${id} order by id limit ${MANY}`,
    sql<MessageFacts['clicks']>`
      select c.clicked_at as at, c.robot from message_links l join link_clicks c on c.token = l.token
       where l.message_id = ${id} and c.message_id = ${id} order by c.clicked_at limit ${MANY}`,
    sql<{ at: Date }[]>`
      select created_at as at from blacklist
       where account_id = ${account} and msisdn = ${recipient} and message_id = ${id}`,
  ]);
  return {
    message: known,
    ledger,
    moves,
    parts,
    webhooks,
    attempts,
    resends,
    replies,
    clicks,
    optedOut: optedOut.map(({ at }) => at),
  };
}

/** Internal facts for staff: the raw reports of the message's parts, and manual actions. */
export async function readInternalFacts(sql: Sql, { message, parts }: MessageFacts): Promise<InternalFacts> {
  const taken = parts.filter(({ providerMessageId }) => providerMessageId !== null);
  const from = parts.reduce<Date>((first, part) => earlier(first, part.submittedAt), new Date());
  // Reports long after the last reported part no longer matter, which bounds the search.
  const reported = parts.every(({ reportedAt }) => reportedAt !== null);
  const to = reported ? parts.reduce((last, part) => later(last, part.reportedAt!), from) : new Date();
  const [reports, acts] = await Promise.all([
    sql<InternalFacts['reports']>`
      select received_at as at, route, provider_message_id,
             case when message_id = ${message.id} then part end as part, state, error_code,
             applied_at is not null as applied
        from delivery_reports
       where received_at between ${from}::timestamptz - interval '1 second' and ${to}::timestamptz + interval '10 minutes'
         and (message_id = ${message.id}
              or exists (select from unnest(${taken.map((p) => p.route)}::text[], ${taken.map((p) => p.providerMessageId!)}::text[])
                                  as t(route, id)
                          where t.route = delivery_reports.route and t.id = any(provider_message_id || other_ids)))
       order by delivery_reports.id limit ${MANY}`,
    sql<InternalFacts['acts']>`
      select at, action, actor from audit_log
       where account_id = ${message.accountId} and subject = ${message.id} and action <> 'messages show'
       order by audit_log.id limit ${MANY}`,
  ]);
  return { reports, acts };
}

interface MessageHead {
  recipient: string;
  sender: string | null;
  text: string;
  costGrosze: number;
  priority: boolean;
  reference: string | null;
  expiresAt: Date | null;
  giveUpAt: Date;
  submission: string;
  pausedSince: Date | null;
  erasedAt: Date | null;
}

export async function readHead(sql: Sql, id: string): Promise<MessageHead> {
  const [head] = await sql<MessageHead[]>`
    select recipient, sender, text, cost_grosze, priority, reference, expires_at, give_up_at, submission, erased_at,
           (select paused_at from paused_messages p where p.message_id = messages.id) as paused_since
      from messages where id = ${id}`;
  if (!head) throw new Error(`message ${id} not found`);
  return head;
}

function earlier(a: Date, b: Date): Date {
  return b < a ? b : a;
}

function later(a: Date, b: Date): Date {
  return b > a ? b : a;
}
