import type { NetworkReply, InboundRow } from '../../domain/incoming.ts';
import type { Fragment, Sql } from '../connection.ts';
import { newId } from '../ids.ts';
import { reserved } from '../money/reservations.ts';
import { sentAt } from '../messages/statusEvents.ts';

// v2.3.0, Limits: inbound reply match window.
const MATCH_WITHIN = '30 days';

/** Stores replies as received and reserves their workflows, ignoring duplicates; MSISDNs in E.164 with plus. @returns the new ids */
export async function storeReplies(sql: Sql, route: string, replies: NetworkReply[]): Promise<string[]> {
  const stored = await sql<{ id: string }[]>`
    with seen as (
      update route_states set replied_at = now() where route = ${route}
    ), stored as (
    insert into inbound_messages (id, route, provider_reference, sender, receiver, received_text)
    select r.id, ${route}, r.reference, r.sender, r.receiver, r.content
      from unnest(${replies.map(() => newId('in'))}::text[],
                  ${replies.map((reply) => reply.providerReference)}::text[],
                  ${replies.map((reply) => reply.from)}::text[],
                  ${replies.map((reply) => reply.to)}::text[],
                  ${replies.map((reply) => reply.text)}::text[]) as r(id, reference, sender, receiver, content)
    on conflict (route, provider_reference) do nothing
    returning id
    ), reserved as (${reserved(sql, 'reply', sql`select id, '' as account_id from stored`)}
    )
    select id from stored`;
  return stored.map(({ id }) => id);
}

export interface ReceivedReply {
  id: string;
  state: 'received' | 'matched' | 'unmatched';
  accountId: string | null;
  erasedAt: Date | null;
  sender: string;
  receiver: string | null;
  text: string;
}

/** Reads a reply and locks it until the transaction ends; null when there is none. */
export async function lockReply(sql: Sql, id: string): Promise<ReceivedReply | null> {
  const [reply] = await sql<ReceivedReply[]>`
    select id, state, account_id, erased_at, sender, receiver, received_text as text
      from inbound_messages where id = ${id} for update`;
  return reply ?? null;
}

/**
 * The account with this keyword; among those receiving on `receiver`, if there are any, since a word that happens to be another account's
 * keyword must not redirect a reply from the number's owner.
 */
export async function accountOfKeyword(
  sql: Sql,
  keyword: string,
  receiver: string | null,
): Promise<string | null> {
  const [account] = await sql<{ id: string }[]>`
    select a.id from accounts a
     where a.inbound_prefix = ${keyword} and ${receives(sql, sql`a`)}
       and (${receiver}::text is null or a.inbound_number = ${receiver}
            or not exists (select from accounts o where o.inbound_number = ${receiver} and ${receives(sql, sql`o`)}))`;
  return account?.id ?? null;
}

interface AnsweredMessage {
  id: string;
  accountId: string;
}

/**
 * The last message to the phone within 30 days before the reply (v2.3.0, Limits), from an account receiving on its number, or from any
 * receiving account if the provider does not name the number.
 */
export async function lastMessageTo(sql: Sql, reply: ReceivedReply): Promise<AnsweredMessage | null> {
  const { receiver, sender } = reply;
  const next = (than: Fragment): Fragment => sql`
    select m.recipient, m.account_id from messages m
     where (m.recipient, m.account_id) > ${than} and ${isAnswerable(sql)}
     order by m.recipient, m.account_id, ${sentAt(sql)} desc, m.id desc limit 1`;
  // Reads one row per account that has written to the phone. Compared as pairs, in the order of the whole index: for a single phone, which
  // may have a large share of all messages, PostgreSQL would rather scan all messages account by account.
  const [message] = await sql<AnsweredMessage[]>`
    with recursive writers as (
      (${next(sql`(${sender}, '')`)})
      union all
      select n.recipient, n.account_id
        from writers w cross join lateral (${next(sql`(w.recipient, w.account_id)`)}) n
       where w.recipient = ${sender}
    )
    select last.id, a.id as account_id
      from writers w join accounts a on a.id = w.account_id
     cross join lateral (${lastTo(sql, sql`a.id`, reply)}) last
     where ${receives(sql, sql`a`)} and (${receiver}::text is null or a.inbound_number = ${receiver})
     order by last.sent_at desc, last.id desc limit 1`;
  return message ?? null;
}

export async function lastMessageOf(
  sql: Sql,
  accountId: string,
  reply: ReceivedReply,
): Promise<string | null> {
  const [message] = await sql<{ id: string }[]>`${lastTo(sql, sql`${accountId}`, reply)}`;
  return message?.id ?? null;
}

/** The names and numbers by which a recipient may call an account: its own, its senders', that of a message, keyword, and number. */
export async function namesOf(sql: Sql, accountId: string, message: string | null): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select name from senders where account_id = ${accountId}
    union select sender from messages where account_id = ${accountId} and id = ${message} and sender is not null
    union select n.name from accounts a, unnest(array[a.name, a.inbound_prefix, a.inbound_number]) n(name)
           where a.id = ${accountId} and n.name is not null`;
  return rows.map(({ name }) => name);
}

/** The account notified of everything sent to a number: the only one receiving there, with a v1.2.0 webhook (v1.2.0, Events). */
export async function ownerOfNumber(sql: Sql, receiver: string): Promise<string | null> {
  const owners = await sql<{ id: string; hasLegacyWebhook: boolean }[]>`
    select a.id, a.legacy_webhook_url is not null as has_legacy_webhook from accounts a
     where a.inbound_number = ${receiver} and ${receives(sql, sql`a`)} limit 2`;
  const [owner, another] = owners;
  return owner?.hasLegacyWebhook === true && another === undefined ? owner.id : null;
}

export interface ReplyMatch {
  accountId: string;
  /** Without the keyword; null if only the receiving number belongs to the account. */
  text: string | null;
  /** The rule of v2.3.0 that matched; null: none, so only v1.2.0 shows the reply. */
  matchedBy: InboundRow['matchedBy'] | null;
  replyTo: string | null;
  optOut: boolean;
}

/** Whether a rule of v2.3.0 (keyword, last message) matched: only then v2.3.0 shows the reply. */
export function isMatched(match: ReplyMatch | null): boolean {
  return match !== null && match.matchedBy !== null;
}

export async function settleReply(sql: Sql, id: string, match: ReplyMatch | null): Promise<void> {
  await sql`
    update inbound_messages
       set state = ${isMatched(match) ? 'matched' : 'unmatched'}, account_id = ${match?.accountId ?? null},
           text = ${match?.text ?? null}, matched_by = ${match?.matchedBy ?? null},
           reply_to = ${match?.replyTo ?? null}, opt_out = ${match?.optOut ?? false}
     where id = ${id} and state <> 'matched'`;
}

/** Writes the webhook events of an account's reply, one for each interface that has a webhook; for v2.3.0 only if the reply is matched. */
export async function writeReceivedEvents(sql: Sql, id: string): Promise<void> {
  await sql`
    insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot)
    select ${newId('evt')}, i.account_id, 'inbound', i.id, 'message.received', '{}'
      from inbound_messages i join accounts a on a.id = i.account_id
     where i.id = ${id} and i.state = 'matched' and a.webhook_url is not null
    on conflict (subject_id) where subject_kind in ('link', 'inbound') do nothing`;
  await sql`
    insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot)
    select ${newId('evt')}, i.account_id, 'inbound_v1', i.id, 'incoming_sms', '{}'
      from inbound_messages i join accounts a on a.id = i.account_id
     where i.id = ${id} and a.legacy_webhook_url is not null
    on conflict (subject_id) where subject_kind = 'inbound_v1' do nothing`;
}

/** For a reply whose workflow is over: workflows of their own deliver its events. */
export async function reserveEventsOf(sql: Sql, id: string): Promise<void> {
  await reserved(
    sql,
    'event',
    sql`select id, account_id from webhook_events where subject_id = ${id} and state = 'pending'`,
  );
}

export async function pendingEventsOf(sql: Sql, id: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from webhook_events where subject_id = ${id} and state = 'pending' order by created_at`;
  return rows.map((row) => row.id);
}

/** Sets the number on which an account receives replies (E.164 with plus); null: none. */
export async function setInboundNumber(sql: Sql, accountId: string, msisdn: string | null): Promise<void> {
  await sql`update accounts set inbound_number = ${msisdn}, updated_at = now() where id = ${accountId}`;
}

function receives(sql: Sql, account: Fragment): Fragment {
  return sql`${account}.inbound_number is not null and ${account}.status <> 'closed'`;
}

// As SQL, the account's last answerable message within 30 days before the reply. Compared in the database, where times are finer than a
// `Date`.
function lastTo(sql: Sql, account: Fragment, { id, sender }: ReceivedReply): Fragment {
  const receivedAt = sql`(select received_at from inbound_messages where id = ${id})`;
  return sql`
    select m.id, ${sentAt(sql)} as sent_at from messages m
     where m.recipient = ${sender} and m.account_id = ${account} and ${isAnswerable(sql)}
       and ${sentAt(sql)} between ${receivedAt} - ${MATCH_WITHIN}::interval and ${receivedAt}
     order by ${sentAt(sql)} desc, m.id desc limit 1`;
}

// As SQL, whether a provider has, or may have, message `m`, so that it can be answered. A waiting message never left, however long its
// route or account is blocked. The functions `is_answerable` and `message_before` attribute clicks and opt-outs by the same rule.
function isAnswerable(sql: Sql): Fragment {
  // Literally the condition of the index `messages_answerable_of_account`.
  return sql`m.status in ('queued', 'sent', 'delivered', 'undelivered', 'expired')
    and not (m.status in ('queued', 'expired') and m.submission = 'waiting')`;
}
