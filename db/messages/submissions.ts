import type { Channel } from '../../domain/channelDeclaration.ts';
import type { Fragment, Sql } from '../connection.ts';
import { activeEntry } from '../incoming/blacklist.ts';
import { pendingEvents } from './statusEvents.ts';
import type { StartableMessage } from '../../domain/statuses.ts';

type AccountStatus = 'active' | 'suspended' | 'closed';

interface ReleasedMessage {
  accountId: string;
  accountStatus: AccountStatus;
  /** Still scheduled, because its account may not send. */
  kept: boolean;
  channel: Channel;
  recipient: string;
  parts: number;
  priority: boolean;
  route: string;
}

/** Moves a message to `queued` at its send time, unless its account may not send; null when there is no such accepted message. */
export async function releaseScheduled(sql: Sql, messageId: string): Promise<ReleasedMessage | null> {
  const [message] = await sql<ReleasedMessage[]>`
    with released as (
      update messages m set status = 'queued', updated_at = now()
        from accounts a
       where m.id = ${messageId} and m.status = 'scheduled' and a.id = m.account_id and a.status = 'active'
      returning m.id
    )
    select m.account_id, a.status as account_status, m.channel, m.recipient, m.parts, m.priority, m.route,
           m.status = 'scheduled' and not exists (select from released) as kept
      from messages m join accounts a on a.id = m.account_id
     where m.id = ${messageId}`;
  return message ?? null;
}

/** Locks a message, and with it the states of its parts, until the transaction ends. */
export async function lockMessage(sql: Sql, messageId: string): Promise<void> {
  await sql`select from messages where id = ${messageId} for update`;
}

export interface SubmittableMessage {
  id: string;
  accountId: string;
  requestId: string;
  status: string;
  submission: string;
  channel: Channel;
  recipient: string;
  sender: string | null;
  text: string;
  /** Content of the channel beside the text. */
  content: object | null;
  parts: number;
  /** How its text was split into parts at acceptance; null if unknown. */
  cut: string | null;
  priority: boolean;
  route: string;
  /** Reference of a multipart message, 0 to 65,535; consecutive per recipient. */
  concatReference: number;
  giveUpAt: Date;
  accountStatus: AccountStatus;
  paused: boolean;
  blacklisted: boolean;
  /** Staff ordered a resubmit of unanswered parts, and no other part is known to be with an SMSC. */
  resubmitted: boolean;
  /** Pending webhook events left by an attempt whose result was lost, oldest first. */
  events: string[];
}

export async function openSubmission(sql: Sql, messageId: string): Promise<SubmittableMessage | null> {
  const [message] = await sql<(SubmittableMessage & { concatReference: number | null })[]>`
    select m.id, m.account_id, a.status as account_status, m.request_id, m.status,
           m.submission, m.channel, m.recipient, m.sender, m.text, m.content, m.parts, m.cut, m.priority, m.route,
           m.concat_reference, m.give_up_at,
           ${pendingEvents(sql, messageId)} as events,
           exists (select from paused_messages p where p.message_id = m.id) as paused,
           case when m.submission = 'submitting'
                then (select bool_or(p.resubmitted_at is not null) and bool_and(p.state = 'held')
                        from message_parts p where p.message_id = m.id) is true
                else false end as resubmitted,
           m.content->>'verification' is null
             and exists (${activeEntry(sql, sql`m.account_id`, sql`m.recipient`)}) as blacklisted
      from messages m join accounts a on a.id = m.account_id
     where m.id = ${messageId}`;
  if (!message) return null;
  const concatReference =
    message.concatReference ?? (message.parts === 1 ? 0 : await takeConcatReference(sql, messageId));
  return { ...message, concatReference };
}

// Assigns the next concatenation reference of the recipient. Phones join parts by it, so consecutive messages need different ones, and a
// message keeps its own for all attempts.
async function takeConcatReference(sql: Sql, messageId: string): Promise<number> {
  const [taken] = await sql<{ reference: number }[]>`
    with open as (
      select id, recipient from messages where id = ${messageId} and concat_reference is null for update
    ), counted as (
      insert into concat_references as c (recipient, last)
      select recipient, floor(random() * 65536)::int from open
      on conflict (recipient) do update set last = (c.last + 1) % 65536, used_at = now()
      returning last
    )
    update messages m set concat_reference = counted.last from open, counted where m.id = open.id
    returning m.concat_reference as reference`;
  if (taken) return taken.reference;
  const [kept] = await sql<{ reference: number }[]>`
    select concat_reference as reference from messages where id = ${messageId}`;
  return kept?.reference ?? 0;
}

/** Moves a message to another route unless an SMSC may have a part that staff did not order to resubmit. Returns whether it moved. */
export async function moveToRoute(sql: Sql, messageId: string, from: string, to: string): Promise<boolean> {
  const moved = await sql`
    with moved as (
      update messages m set route = ${to}, updated_at = now()
       where m.id = ${messageId} and m.route = ${from} and m.status = 'queued'
         and m.submission in ('waiting', 'submitting')
         and not exists (select from message_parts p where p.message_id = m.id and p.state <> 'held')
      returning m.id
    )
    insert into message_moves (message_id, from_route, to_route) select id, ${from}, ${to} from moved`;
  return moved.count > 0;
}

export type StartableRow<M extends StartableMessage = StartableMessage> = Omit<M, 'sendAt' | 'giveUpAt'> & {
  sendAt: Date | null;
  giveUpAt: Date;
};

export async function readStartable(
  sql: Sql,
  accountId: string,
  id: string,
): Promise<StartableMessage | null> {
  const [row] = await sql<StartableRow[]>`
    select ${startableColumns(sql)} from messages m
     where m.id = ${id} and m.account_id = ${accountId}`;
  return row ? startable(row) : null;
}

export async function startableMessages(sql: Sql, ids: readonly string[]): Promise<StartableMessage[]> {
  if (ids.length === 0) return [];
  const rows = await sql<StartableRow[]>`
    select ${startableColumns(sql)} from messages m where m.id = any(${ids as string[]}::text[])`;
  return rows.map((row) => startable(row));
}

export function startableColumns(sql: Sql): Fragment {
  return sql`m.id, m.channel, m.account_id, m.request_id, m.batched, m.route, m.send_at, m.give_up_at, m.priority`;
}

/** Converts the times of a row to epoch milliseconds, as workflows get them. */
export function startable<R extends StartableRow>(
  row: R,
): Omit<R, 'sendAt' | 'giveUpAt'> & Pick<StartableMessage, 'sendAt' | 'giveUpAt'> {
  return { ...row, sendAt: row.sendAt?.getTime() ?? null, giveUpAt: row.giveUpAt.getTime() };
}
