import type { Fragment, Sql } from '../connection.ts';
import { isUnmatched } from '../incoming/replies.ts';
import { COUNTED_MAX, type StuckKind, stuckTimes } from '../messages/stuck.ts';
import { suspiciousSignUps } from '../people/suspiciousSignUps.ts';

/** What waits for staff. */
export interface Waiting {
  /** At most {@link COUNTED_MAX}. */
  count: number;
  /** Since when the oldest of those counted waits; null: none, or not known. */
  oldest: Date | null;
}

export async function waitingStuck(sql: Sql, kind: StuckKind, minutes: number): Promise<Waiting> {
  return await waiting(sql, stuckTimes(sql, kind, { accountId: null, route: null, minutes }));
}

export async function waitingReplies(sql: Sql): Promise<Waiting> {
  return await waiting(sql, sql`select received_at as since from inbound_messages where ${isUnmatched(sql)}`);
}

export async function waitingSenderRequests(sql: Sql): Promise<Waiting> {
  return await waiting(sql, sql`select created_at as since from sender_requests where state = 'pending'`);
}

export async function waitingSignUps(sql: Sql): Promise<Waiting> {
  return await waiting(sql, suspiciousSignUps(sql));
}

async function waiting(sql: Sql, rows: Fragment): Promise<Waiting> {
  const [found] = await sql<Waiting[]>`
    select count(*)::int as count, min(since) as oldest from (select since from (${rows}) r limit ${COUNTED_MAX}) s`;
  return found!;
}
