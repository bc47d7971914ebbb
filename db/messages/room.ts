import { QuotaReachedError, readMessageUsage } from '../accounts/quotas.ts';
import type { Database, Sql } from '../connection.ts';
import { mayBeAccepted } from '../money/billing.ts';
import { inTurn } from '../turns.ts';

/** What a request adds to its account's messages that cost nothing, and how many there may be. */
export interface UnpaidRoom {
  accountId: string;
  /** Messages of the request that are rejected. */
  rejected: number;
  limit: number;
  /** The database's clock, epoch milliseconds. */
  now: number;
}

/**
 * Writes drafts where there is room for those that cost nothing. A request with several of them is counted and written in one
 * transaction, in its turn among such requests of the account, so that of many at once none gets past. Anything else waits for nobody.
 * @param write all of it or nothing, where it is given a transaction
 * @throws QuotaReachedError
 */
export async function withUnpaidRoom<T>(
  sql: Database,
  room: UnpaidRoom,
  write: (open: Sql) => Promise<T>,
): Promise<T> {
  return takesTurn(room) ? await inUnpaidTurn(sql, room, write) : await write(sql);
}

/** Whether a request adds so much that it may not be counted beside others. */
export function takesTurn({ rejected }: UnpaidRoom): boolean {
  return rejected > 1;
}

/** As {@link withUnpaidRoom}, of a request that takes turns. @throws QuotaReachedError */
export async function inUnpaidTurn<T>(
  sql: Database,
  room: UnpaidRoom,
  write: (tx: Sql) => Promise<T>,
): Promise<T> {
  return await inTurn(sql, `unpaid messages of ${room.accountId}`, async (tx) => {
    await refuseUnpaid(tx, room);
    return await write(tx);
  });
}

async function refuseUnpaid(tx: Sql, { accountId, rejected, limit, now }: UnpaidRoom): Promise<void> {
  // Drafts first: one that is accepted between the two is counted twice, never not at all.
  const drafts = await countRejectedDrafts(tx, accountId, limit);
  const used = await readMessageUsage(tx, accountId, { unpaid_messages: limit, scheduled_messages: 0 }, now);
  if (drafts + used.unpaid_messages + rejected > limit) throw new QuotaReachedError('unpaid_messages', limit);
}

/** Drafts that will cost nothing and may be accepted yet; counted no further than asked. */
async function countRejectedDrafts(tx: Sql, accountId: string, upTo: number): Promise<number> {
  const [counted] = await tx<{ drafts: number }[]>`
    select count(*)::int as drafts from (
      select from messages
       where account_id = ${accountId} and status = 'draft' and accepted_as = 'rejected'
         and ${mayBeAccepted(tx, tx`created_at`)}
       limit ${upTo}) counted`;
  return counted!.drafts;
}
