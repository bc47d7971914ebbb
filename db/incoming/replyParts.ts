import type { ReplyPart } from '../../domain/inbound.ts';
import type { Sql } from '../connection.ts';

/** What parts of one reply have in common. Phones use the same again for a later one. */
export interface PartGroup {
  route: string;
  sender: string;
  /** '' when the provider does not say. */
  receiver: string;
  reference: string;
  total: number;
}

/** A part that is stored and not handed over. */
export interface OpenPart extends Pick<ReplyPart, 'number' | 'encoding'> {
  content: Buffer;
  /** Seconds since 1970, with all of the database's digits. */
  receivedAt: string;
  /** Whether it came longer ago than a group is waited for. */
  late: boolean;
}

// As long as a part that was handed over is known, so that the same one handed over again is not a new one.
const REMEMBERED = '10 minutes';

/** Keeps everybody else from a group until the transaction ends. */
export async function lockParts(sql: Sql, group: PartGroup): Promise<void> {
  const key = JSON.stringify(['reply parts', ...keyOf(group)]);
  await sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`;
}

/**
 * The parts of a group that are not handed over.
 * @param waitSeconds how long a group is waited for, since its last part
 */
export async function openParts(sql: Sql, group: PartGroup, waitSeconds: number): Promise<OpenPart[]> {
  return await sql<OpenPart[]>`
    select number, encoding, content, extract(epoch from received_at)::text as received_at,
           received_at < clock_timestamp() - make_interval(secs => ${waitSeconds}) as late
      from reply_parts s
     where ${isOf(sql, group)} and joined_at is null
     order by number`;
}

/**
 * Stores a part. One with the same number and content that is there, or was handed over within the last 10 minutes, is
 * the same; one that differs takes the place of one handed over.
 */
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

/** Notes that all open parts of a group were handed over. */
export async function closeParts(sql: Sql, group: PartGroup): Promise<void> {
  await sql`
    update reply_parts s set joined_at = clock_timestamp() where ${isOf(sql, group)} and joined_at is null`;
}

/** Groups whose last part came longer ago than they are waited for; those waiting longest first. */
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

/** Deletes what was handed over and need not be known any more. */
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
