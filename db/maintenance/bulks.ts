import type postgres from 'postgres';
import type { StaffRefusal } from '../../domain/refusals.ts';
import type { AuditDetails } from '../accounts/audit.ts';
import type { Fragment, Sql } from '../connection.ts';
import { newId } from '../ids.ts';
import { reserved } from '../money/reservations.ts';
import { hasEnded } from './findings.ts';

export const BULK_ACTIONS = ['cancel', 'resubmit', 'give-up', 'resend', 'dismiss'] as const;
export type BulkAction = (typeof BULK_ACTIONS)[number];

export const BULK_OUTCOMES = ['done', 'refused', 'unknown'] as const;
/** `unknown`: nobody answered in time; it may still be carried out. */
export type BulkOutcome = (typeof BULK_OUTCOMES)[number];

interface NewBulk {
  action: BulkAction;
  /** As the audit log names staff. */
  actor: string;
  /** For the audit log. */
  grounds: AuditDetails;
  /** What the items were found by; empty: by their ids. */
  filter: AuditDetails;
  /** In the order in which they are acted on. */
  items: readonly string[];
}

export interface BulkRow extends Omit<NewBulk, 'items'> {
  id: string;
  createdAt: Date;
  stoppedAt: Date | null;
  endedAt: Date | null;
  items: number;
  /** Not acted on yet. */
  open: number;
  done: number;
  refused: number;
  unknown: number;
}

export interface BulkItem {
  item: string;
  /** Null: not acted on yet. */
  outcome: BulkOutcome | null;
  /** Where it is refused. */
  why: StaffRefusal | null;
  at: Date | null;
}

/** Stores a bulk, and reserves its workflow. @returns its id */
export async function insertBulk(tx: Sql, { items, ...bulk }: NewBulk): Promise<string> {
  const id = newId('bulk');
  const { action, actor, grounds, filter } = bulk;
  await tx`
    insert into bulks (id, action, actor, grounds, filter)
    values (${id}, ${action}, ${actor}, ${json(tx, grounds)}, ${json(tx, filter)})`;
  await tx`
    insert into bulk_items (bulk_id, item, position)
    select ${id}, item, position from unnest(${items as string[]}::text[]) with ordinality i(item, position)`;
  await reserved(tx, 'bulk', tx`select ${id}::text as id, ''::text as account_id`);
  return id;
}

export async function readBulk(sql: Sql, id: string): Promise<BulkRow | undefined> {
  const [bulk] = await sql<BulkRow[]>`${counted(sql)} where b.id = ${id}`;
  return bulk;
}

/** The latest first. */
export async function listBulks(sql: Sql, limit: number): Promise<BulkRow[]> {
  return await sql<BulkRow[]>`${counted(sql)} order by b.id desc limit ${limit}`;
}

function counted(sql: Sql): Fragment {
  return sql`
    select b.*, i.* from bulks b cross join lateral (
      select count(*)::int as items, count(*) filter (where outcome is null)::int as open,
             count(*) filter (where outcome = 'done')::int as done,
             count(*) filter (where outcome = 'refused')::int as refused,
             count(*) filter (where outcome = 'unknown')::int as unknown
        from bulk_items where bulk_id = b.id) i`;
}

/** Items in their order. @param outcome one, `open` for those that have none, or null for all */
export async function readBulkItems(
  sql: Sql,
  id: string,
  outcome: BulkOutcome | 'open' | null,
  limit: number,
): Promise<BulkItem[]> {
  return await sql<BulkItem[]>`
    select item, outcome, why, at from bulk_items
     where bulk_id = ${id} and (${outcome}::text is null or coalesce(outcome, 'open') = ${outcome})
     order by position limit ${limit}`;
}

/** Takes the next items to act on: once the bulk is stopped, only those that were taken before. */
export async function takeBulkItems(sql: Sql, id: string, limit: number): Promise<string[]> {
  const rows = await sql<{ item: string }[]>`
    update bulk_items set taken = true
     where bulk_id = ${id} and item = any(array(
       select i.item from bulks b join bulk_items i on i.bulk_id = b.id
        where b.id = ${id} and i.outcome is null and (i.taken or b.stopped_at is null)
        order by i.position limit ${limit}))
    returning item`;
  return rows.map(({ item }) => item);
}

/** Stores what came of an item, once. @returns false if that is stored already */
export async function noteBulkItem(
  sql: Sql,
  bulk: string,
  item: string,
  outcome: BulkOutcome,
  why: StaffRefusal | null,
): Promise<boolean> {
  const noted = await sql`
    update bulk_items
       set outcome = ${outcome}, why = ${why === null ? null : sql.json(why)}, at = now()
     where bulk_id = ${bulk} and item = ${item} and outcome is null`;
  return noted.count > 0;
}

function json(sql: Sql, value: object): postgres.Parameter {
  return sql.json(value as postgres.JSONValue);
}

/** @returns false if there is none, or it has ended */
export async function stopBulk(sql: Sql, id: string): Promise<boolean> {
  const stopped = await sql`
    update bulks set stopped_at = coalesce(stopped_at, now()) where id = ${id} and ended_at is null`;
  return stopped.count > 0;
}

export async function endBulk(sql: Sql, id: string): Promise<void> {
  await sql`update bulks set ended_at = now() where id = ${id} and ended_at is null`;
}

/** Those that go on for a while, whose workflows may be lost. */
export async function longOpenBulks(sql: Sql, limit: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from bulks where ended_at is null and created_at < now() - interval '10 minutes' order by created_at limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** What decides about acting on a message. */
export interface MessageFacts {
  id: string;
  accountId: string;
  status: string;
  submission: string;
  /** Its workflow completed before it. */
  ended: boolean;
  /** What it has cost; 0 if paid by test credits. */
  costGrosze: number;
}

export async function readMessageFacts(sql: Sql, ids: readonly string[]): Promise<MessageFacts[]> {
  return await sql<MessageFacts[]>`
    select id, account_id, status, submission, ${hasEnded(sql, sql`m.id`)} as ended,
           case when test_credits > 0 then 0 else cost_grosze end as cost_grosze
      from messages m where id = any(${ids as string[]})`;
}
