import type { InboundRow } from '../../domain/inbound.ts';
import { comparableInstant } from '../../domain/instants.ts';
import type { Fragment, Sql } from '../connection.ts';
import { idFloor } from '../ids.ts';

// Ids bear the time of the worker that stored them, `received_at` the database's: their clocks never differ by this much.
const CLOCKS_MS = 86_400_000;

/** Which replies of an account a page shows; null means any. */
export interface InboundFilter {
  /** MSISDN in E.164 with plus. */
  sender: string | null;
  /** Epoch milliseconds, inclusive. */
  since: number | null;
  unread: boolean;
  /** Only replies older than the one with this id. */
  before: string | null;
}

/** A page of the account's replies, newest first (v2.3.0, Inbound replies). */
export async function readInbound(
  sql: Sql,
  accountId: string,
  filter: InboundFilter,
  limit: number,
): Promise<InboundRow[]> {
  return await sql<InboundRow[]>`
    select ${columns(sql)} from inbound_messages
     where ${shownBy(sql, accountId, filter)} order by id desc limit ${limit}`;
}

/**
 * The same page, whose first `marked` replies are marked as read by the same statement and shown so. Readers at the
 * same time wait for each other: of those who ask for unread ones, each reply goes to exactly one.
 */
export async function readAndMark(
  sql: Sql,
  accountId: string,
  filter: InboundFilter,
  limit: number,
  marked: number,
): Promise<InboundRow[]> {
  return await sql<InboundRow[]>`
    with page as materialized (
      select ${columns(sql)} from inbound_messages
       where ${shownBy(sql, accountId, filter)} order by id desc limit ${limit} for update
    ), marked as (
      update inbound_messages i set read_at = clock_timestamp()
        from (select id from page order by id desc limit ${marked}) p
       where i.id = p.id and i.read_at is null
      returning i.id, i.read_at
    )
    select p.id, p.sender, p.receiver, p.text, p.reply_to, p.matched_by, p.received_at,
           coalesce(p.read_at, m.read_at) as read_at
      from page p left join marked m on m.id = p.id order by p.id desc`;
}

/** One reply of the account; null when it has none of this id. */
export async function readReply(sql: Sql, accountId: string, id: string): Promise<InboundRow | null> {
  const [reply] = await sql<InboundRow[]>`
    select ${columns(sql)} from inbound_messages where id = ${id} and account_id = ${accountId} and state = 'matched'`;
  return reply ?? null;
}

/** A reply that belongs to no account. */
export interface UnmatchedReply {
  id: string;
  from: string;
  to: string | null;
  text: string;
  receivedAt: Date;
}

/** The latest replies that belong to no account, newest first: for staff alone. */
export async function listUnmatched(sql: Sql, limit: number): Promise<UnmatchedReply[]> {
  return [
    ...(await sql<UnmatchedReply[]>`
      select id, sender as "from", receiver as "to", received_text as text, received_at
        from inbound_messages where state = 'unmatched' and account_id is null order by id desc limit ${limit}`),
  ];
}

function shownBy(
  sql: Sql,
  accountId: string,
  { sender, unread, before, ...filter }: InboundFilter,
): Fragment {
  const since = filter.since === null ? null : comparableInstant(filter.since);
  return sql`account_id = ${accountId} and state = 'matched'
    ${sender === null ? sql`` : sql`and sender = ${sender}`}
    ${since === null ? sql`` : sql`and received_at >= ${new Date(since)} and id >= ${idFloor('in', since - CLOCKS_MS)}`}
    ${unread ? sql`and read_at is null` : sql``}
    ${before === null ? sql`` : sql`and id < ${before}`}`;
}

function columns(sql: Sql): Fragment {
  return sql`id, sender, receiver, text, reply_to, matched_by, received_at, read_at`;
}
