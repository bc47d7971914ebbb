import type { NetworkReply, InboundRow } from '../../domain/incoming.ts';
import type { Fragment, Sql } from '../connection.ts';
import { newId } from '../ids.ts';
import { reserved } from '../money/reservations.ts';
import { sentAt } from '../messages/statusEvents.ts';

// v2.3.0, Limits: inbound reply match window.
const MATCH_WITHIN = '30 days';

/**
 * Keeps replies as they came, and reserves them for their workflows. What the provider hands over again is there already.
 * @param replies texts that can be stored; numbers as MSISDN in E.164 with plus, where they are numbers
 * @returns the ids of those that are new
 */
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

/** A stored reply on its way to an account. */
export interface ReceivedReply {
  id: string;
  state: 'received' | 'matched' | 'unmatched';
  accountId: string | null;
  sender: string;
  receiver: string | null;
  /** As it came. */
  text: string;
}

/** Reads a reply and locks it until the transaction ends; null when there is none of this id. */
export async function lockReply(sql: Sql, id: string): Promise<ReceivedReply | null> {
  const [reply] = await sql<ReceivedReply[]>`
    select id, state, account_id, sender, receiver, received_text as text
      from inbound_messages where id = ${id} for update`;
  return reply ?? null;
}

/**
 * The account whose keyword this is. Others than those receiving on the number it was sent to are left out, unless
 * nobody receives there: a word that happens to be somebody's keyword must not carry a reply away from the number's
 * owner.
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

/** A message that a reply may answer. */
interface AnsweredMessage {
  id: string;
  accountId: string;
}

/**
 * The last message that an account receiving on the reply's number wrote to the phone within the 30 days before it
 * (v2.3.0, Limits); null when there is none. Where the provider does not name the number, all accounts count.
 */
export async function lastMessageTo(sql: Sql, reply: ReceivedReply): Promise<AnsweredMessage | null> {
  const { receiver, sender } = reply;
  const next = (than: Fragment): Fragment => sql`
    select m.recipient, m.account_id from messages m
     where (m.recipient, m.account_id) > ${than} and ${isAnswerable(sql)}
     order by m.recipient, m.account_id, ${sentAt(sql)} desc, m.id desc limit 1`;
  // One row is read for each account that has written to the phone, however much that is. Compared as pairs, and in the order of the whole
  // index: asked for one phone, which may have a good part of all messages, PostgreSQL would rather go through all messages account by account.
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

/** The account's last message to the phone within the 30 days before the reply; null when there is none. */
export async function lastMessageOf(
  sql: Sql,
  accountId: string,
  reply: ReceivedReply,
): Promise<string | null> {
  const [message] = await sql<{ id: string }[]>`${lastTo(sql, sql`${accountId}`, reply)}`;
  return message?.id ?? null;
}

/**
 * The account that is told of whatever is sent to a number, as it alone receives there and has a webhook of the earlier
 * interface (v1.2.0, Events); null when there is none.
 */
export async function ownerOfNumber(sql: Sql, receiver: string): Promise<string | null> {
  const owners = await sql<{ id: string; hasLegacyWebhook: boolean }[]>`
    select a.id, a.legacy_webhook_url is not null as has_legacy_webhook from accounts a
     where a.inbound_number = ${receiver} and ${receives(sql, sql`a`)} limit 2`;
  const [owner, another] = owners;
  return owner?.hasLegacyWebhook === true && another === undefined ? owner.id : null;
}

/** Whose a reply is. */
export interface ReplyMatch {
  accountId: string;
  /** Without the keyword; null where only the number it was sent to is the account's. */
  text: string | null;
  /** By which rule of v2.3.0; null: by none, so that only the earlier interface tells of it. */
  matchedBy: InboundRow['matchedBy'] | null;
  replyTo: string | null;
  optOut: boolean;
}

/** Whether a rule of v2.3.0 (keyword, last message) says whose a reply is: only then that interface shows it. */
export function isMatched(match: ReplyMatch | null): boolean {
  return match !== null && match.matchedBy !== null;
}

/** Hands a reply to its account, or with null leaves it to staff. */
export async function settleReply(sql: Sql, id: string, match: ReplyMatch | null): Promise<void> {
  await sql`
    update inbound_messages
       set state = ${isMatched(match) ? 'matched' : 'unmatched'}, account_id = ${match?.accountId ?? null},
           text = ${match?.text ?? null}, matched_by = ${match?.matchedBy ?? null},
           reply_to = ${match?.replyTo ?? null}, opt_out = ${match?.optOut ?? false}
     where id = ${id} and state = 'received'`;
}

/**
 * Writes the event of a reply of an account, once for each interface whose webhook it has; for the present one only of a
 * reply that is matched.
 */
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

/** The events of a reply, or of a message, that are not delivered yet. */
export async function pendingEventsOf(sql: Sql, id: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from webhook_events where subject_id = ${id} and state = 'pending' order by created_at`;
  return rows.map((row) => row.id);
}

/** Sets the number on which an account receives replies (MSISDN in E.164 with plus); null: it receives none. */
export async function setInboundNumber(sql: Sql, accountId: string, msisdn: string | null): Promise<void> {
  await sql`update accounts set inbound_number = ${msisdn}, updated_at = now() where id = ${accountId}`;
}

function receives(sql: Sql, account: Fragment): Fragment {
  return sql`${account}.inbound_number is not null and ${account}.status <> 'closed'`;
}

// As SQL, an account's last message that a reply may answer: of the 30 days before it. Its time is compared in
// the database, where it is finer than a `Date`.
function lastTo(sql: Sql, account: Fragment, { id, sender }: ReceivedReply): Fragment {
  const receivedAt = sql`(select received_at from inbound_messages where id = ${id})`;
  return sql`
    select m.id, ${sentAt(sql)} as sent_at from messages m
     where m.recipient = ${sender} and m.account_id = ${account} and ${isAnswerable(sql)}
       and ${sentAt(sql)} between ${receivedAt} - ${MATCH_WITHIN}::interval and ${receivedAt}
     order by ${sentAt(sql)} desc, m.id desc limit 1`;
}

/**
 * As SQL, a condition on messages `m`: some network was given it, or may have been, so that somebody may answer it. What
 * waits was given to none, for however long its route or its account does not send. (Clicks and opt-outs on the page
 * are attributed by the same rule, in the database's own functions `is_answerable` and `message_before`.)
 */
function isAnswerable(sql: Sql): Fragment {
  // Word for word the condition of the index `messages_answerable_of_account`.
  return sql`m.status in ('queued', 'sent', 'delivered', 'undelivered', 'expired')
    and not (m.status in ('queued', 'expired') and m.submission = 'waiting')`;
}
