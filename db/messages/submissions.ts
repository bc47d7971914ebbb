import type { Channel } from '../../domain/channelDeclaration.ts';
import type { Fragment, Sql } from '../connection.ts';
import { activeEntry } from '../incoming/blacklist.ts';
import { pendingEvents } from './statusEvents.ts';
import type { StartableMessage } from '../../domain/statuses.ts';

/** Whether an account may send. */
type AccountStatus = 'active' | 'suspended' | 'closed';

/** A message whose send time has come. */
interface ReleasedMessage {
  accountId: string;
  accountStatus: AccountStatus;
  /** It is still scheduled, as its account may not send. */
  kept: boolean;
  channel: Channel;
  recipient: string;
  priority: boolean;
  /** The route it was meant for when it was accepted. */
  route: string;
}

/**
 * The send time has come: `scheduled` becomes `queued`, unless its account may not send. Null when there is no such
 * accepted message.
 */
export async function releaseScheduled(sql: Sql, messageId: string): Promise<ReleasedMessage | null> {
  const [message] = await sql<ReleasedMessage[]>`
    with released as (
      update messages m set status = 'queued', updated_at = now()
        from accounts a
       where m.id = ${messageId} and m.status = 'scheduled' and a.id = m.account_id and a.status = 'active'
      returning m.id
    )
    select m.account_id, a.status as account_status, m.channel, m.recipient, m.priority, m.route,
           m.status = 'scheduled' and not exists (select from released) as kept
      from messages m join accounts a on a.id = m.account_id
     where m.id = ${messageId}`;
  return message ?? null;
}

/** Locks a message until the transaction ends; what is known of its parts then stays so. */
export async function lockMessage(sql: Sql, messageId: string): Promise<void> {
  await sql`select from messages where id = ${messageId} for update`;
}

/** What a submission needs of its message. */
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
  /** What the channel has beside the text. */
  content: object | null;
  parts: number;
  /** How it was cut when it was accepted; null where nobody has said. */
  cut: string | null;
  priority: boolean;
  /** The route it is to take now. */
  route: string;
  /** Joins the parts of a long message: 0 to 65,535, another one for the next long message to this recipient. */
  concatReference: number;
  giveUpAt: Date;
  accountStatus: AccountStatus;
  /** It has waited for its account to be active again. */
  paused: boolean;
  /** Its recipient is on the account's blacklist by now. */
  blacklisted: boolean;
  /** Staff have put unanswered parts back, and no SMSC is known to have any other. */
  resubmitted: boolean;
  /** Webhook events that an attempt whose result was lost has left, oldest first. */
  events: string[];
}

/** Reads a message for its submission. Null when there is no such accepted message. */
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
           exists (${activeEntry(sql, sql`m.account_id`, sql`m.recipient`)}) as blacklisted
      from messages m join accounts a on a.id = m.account_id
     where m.id = ${messageId}`;
  if (!message) return null;
  const concatReference =
    message.concatReference ?? (message.parts === 1 ? 0 : await takeConcatReference(sql, messageId));
  return { ...message, concatReference };
}

/**
 * Takes the next number for a long message to its recipient. Phones join parts by it, so the long messages that a phone
 * gets count on, and each message keeps its own for all tries.
 */
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

/**
 * Gives a message to another route, as long as no SMSC has, or may have, any of it, or staff have all of it submitted again
 * nevertheless. The move is kept for its timeline.
 * @returns false when it stays where it is
 */
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

/** What is read for a {@link StartableMessage}, or for more than that. */
export type StartableRow<M extends StartableMessage = StartableMessage> = Omit<M, 'sendAt' | 'giveUpAt'> & {
  sendAt: Date | null;
  giveUpAt: Date;
};

/** What starts the workflow of a message of the account; null when it has none of this id. */
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

/** What starts the workflows of messages. */
export async function startableMessages(sql: Sql, ids: readonly string[]): Promise<StartableMessage[]> {
  if (ids.length === 0) return [];
  const rows = await sql<StartableRow[]>`
    select ${startableColumns(sql)} from messages m where m.id = any(${ids as string[]}::text[])`;
  return rows.map((row) => startable(row));
}

/** As SQL, of messages `m`, what {@link startable} takes. */
export function startableColumns(sql: Sql): Fragment {
  return sql`m.id, m.channel, m.account_id, m.request_id, m.batched, m.route, m.send_at, m.give_up_at, m.priority`;
}

/** The row with its times as they are handed to workflows. */
export function startable<R extends StartableRow>(
  row: R,
): Omit<R, 'sendAt' | 'giveUpAt'> & Pick<StartableMessage, 'sendAt' | 'giveUpAt'> {
  return { ...row, sendAt: row.sendAt?.getTime() ?? null, giveUpAt: row.giveUpAt.getTime() };
}
