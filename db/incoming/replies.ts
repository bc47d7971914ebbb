import type { InboundRow, ReplyPart } from '../../domain/incoming.ts';
import { comparableInstant } from '../../domain/calendar.ts';
import type { Fragment, Sql } from '../connection.ts';
import { idFloor } from '../ids.ts';

// Ids carry the worker's time, `received_at` the database's; the clocks never differ by this much.
const MAX_CLOCK_SKEW_MS = 86_400_000;

export interface InboundFilter {
  /** E.164 with plus. */
  sender: string | null;
  /** Epoch milliseconds, inclusive. */
  since: number | null;
  unread: boolean;
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

/** The same page, its first `marked` replies marked as read. Concurrent readers wait, so each unread reply goes to exactly one. */
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

export async function readReply(sql: Sql, accountId: string, id: string): Promise<InboundRow | null> {
  const [reply] = await sql<InboundRow[]>`
    select ${columns(sql)} from inbound_messages where id = ${id} and account_id = ${accountId} and state = 'matched'`;
  return reply ?? null;
}

interface UnmatchedReply {
  id: string;
  from: string;
  to: string | null;
  text: string;
  receivedAt: Date;
}

/** Those that belong to no account and are not erased, the oldest first. */
export async function listUnmatched(sql: Sql, limit: number): Promise<UnmatchedReply[]> {
  return await sql<UnmatchedReply[]>`
    select id, sender as "from", receiver as "to", received_text as text, received_at
      from inbound_messages where ${isUnmatched(sql)} order by id limit ${limit}`;
}

/** As SQL, whether a reply waits for staff. */
export function isUnmatched(sql: Sql): Fragment {
  return sql`state = 'unmatched' and account_id is null and erased_at is null`;
}

function shownBy(
  sql: Sql,
  accountId: string,
  { sender, unread, before, ...filter }: InboundFilter,
): Fragment {
  const since = filter.since === null ? null : comparableInstant(filter.since);
  return sql`account_id = ${accountId} and state = 'matched'
    ${sender === null ? sql`` : sql`and sender = ${sender}`}
    ${since === null ? sql`` : sql`and received_at >= ${new Date(since)} and id >= ${idFloor('in', since - MAX_CLOCK_SKEW_MS)}`}
    ${unread ? sql`and read_at is null` : sql``}
    ${before === null ? sql`` : sql`and id < ${before}`}`;
}

function columns(sql: Sql): Fragment {
  return sql`id, sender, receiver, text, reply_to, matched_by, received_at, read_at`;
}

export interface PartGroup {
  route: string;
  sender: string;
  /** '' if the provider does not name it. */
  receiver: string;
  reference: string;
  total: number;
}

export interface OpenPart extends Pick<ReplyPart, 'number' | 'encoding'> {
  content: Buffer;
  /** Seconds since 1970, at the database's full precision. */
  receivedAt: string;
  /** Received longer ago than the wait for missing parts. */
  late: boolean;
}

// How long joined parts are remembered, to recognize repeated deliveries.
const REMEMBERED = '10 minutes';

export async function lockParts(sql: Sql, group: PartGroup): Promise<void> {
  const key = JSON.stringify(['reply parts', ...keyOf(group)]);
  await sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`;
}

/** The open parts of a group. @param waitSeconds how long missing parts are waited for, since the last part */
export async function openParts(sql: Sql, group: PartGroup, waitSeconds: number): Promise<OpenPart[]> {
  return await sql<OpenPart[]>`
    select number, encoding, content, extract(epoch from received_at)::text as received_at,
           received_at < clock_timestamp() - make_interval(secs => ${waitSeconds}) as late
      from reply_parts s
     where ${isOf(sql, group)} and joined_at is null
     order by number`;
}

/** Stores a part. A repeated one is ignored, for 10 minutes after the parts were joined; different content replaces a joined part. */
export async function storePart(
  sql: Sql,
  group: PartGroup,
  { number, encoding, content }: Pick<ReplyPart, 'number' | 'encoding' | 'content'>,
): Promise<void> {
  const [route, sender, receiver, reference, total] = keyOf(group);
  await sql`
    insert into reply_parts as s (route, sender, receiver, reference, total, number, encoding, content)
    values (${route}, ${sender}, ${receiver}, ${reference}, ${total}, ${number}, ${encoding}, ${content})
    on conflict (route, sender, receiver, reference, total, number) do update
       set encoding = excluded.encoding, content = excluded.content, received_at = clock_timestamp(), joined_at = null
     where s.joined_at < clock_timestamp() - ${REMEMBERED}::interval
        or s.joined_at is not null and (s.encoding, s.content) <> (excluded.encoding, excluded.content)`;
}

export async function closeParts(sql: Sql, group: PartGroup): Promise<void> {
  await sql`
    update reply_parts s set joined_at = clock_timestamp() where ${isOf(sql, group)} and joined_at is null`;
}

export async function lateGroups(sql: Sql, waitSeconds: number, limit: number): Promise<PartGroup[]> {
  return await sql<PartGroup[]>`
    select route, sender, receiver, reference, total
      from reply_parts
     where joined_at is null
     group by route, sender, receiver, reference, total
    having max(received_at) < clock_timestamp() - make_interval(secs => ${waitSeconds})
     order by max(received_at)
     limit ${limit}`;
}

export async function forgetParts(sql: Sql): Promise<void> {
  await sql`delete from reply_parts where joined_at < clock_timestamp() - ${REMEMBERED}::interval`;
}

function keyOf({ route, sender, receiver, reference, total }: PartGroup) {
  return [route, sender, receiver, reference, total] as const;
}

function isOf(sql: Sql, group: PartGroup) {
  const [route, sender, receiver, reference, total] = keyOf(group);
  return sql`s.route = ${route} and s.sender = ${sender} and s.receiver = ${receiver}
    and s.reference = ${reference} and s.total = ${total}`;
}
