import { QuotaReachedError, readMessageUsage } from '../accounts/quotas.ts';
import type { Quotas } from '../../domain/quotas.ts';
import type { Database, Sql } from '../connection.ts';
import { mayBeAccepted } from '../money/billing.ts';
import { inTurn } from '../turns.ts';

/** What a request adds to its account's messages that cost nothing, and how much of them there may be. */
export interface UnpaidRoom {
  accountId: string;
  /** The messages of the request that are rejected, and the octets of their texts. */
  rejected: Unpaid;
  limits: Unpaid;
  /** The database's clock, epoch milliseconds. */
  now: number;
}

/** Messages that cost nothing, and the octets of their texts. */
export type Unpaid = Pick<Quotas, 'unpaid_messages' | 'unpaid_bytes'>;

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
  return rejected.unpaid_messages > 1;
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

async function refuseUnpaid(tx: Sql, { accountId, rejected, limits, now }: UnpaidRoom): Promise<void> {
  // Drafts first: one that is accepted between the two is counted twice, never not at all.
  const drafts = await countRejectedDrafts(tx, accountId, limits.unpaid_messages);
  const used = await readMessageUsage(tx, accountId, { ...limits, scheduled_messages: 0 }, now);
  for (const quota of ['unpaid_messages', 'unpaid_bytes'] as const) {
    if (drafts[quota] + used[quota] + rejected[quota] > limits[quota])
      throw new QuotaReachedError(quota, limits[quota]);
  }
}

/** Drafts that will cost nothing and may be accepted yet; counted no further than asked. */
async function countRejectedDrafts(tx: Sql, accountId: string, upTo: number): Promise<Unpaid> {
  const [counted] = await tx<{ drafts: number; bytes: number }[]>`
    select count(*)::int as drafts, coalesce(sum(octets), 0)::bigint as bytes from (
      select octet_length(text) as octets from messages
       where account_id = ${accountId} and status = 'draft' and accepted_as = 'rejected'
         and ${mayBeAccepted(tx, tx`created_at`)}
       limit ${upTo}) counted`;
  return { unpaid_messages: counted!.drafts, unpaid_bytes: counted!.bytes };
}
