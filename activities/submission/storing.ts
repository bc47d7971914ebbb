import { setTimeout as delay } from 'node:timers/promises';
import { log } from '@temporalio/activity';
import type { Database, Sql } from '../../db/connection.ts';
import { holdParts, type PartClaim, type PartsOf } from '../../db/messages/parts.ts';
import { lockMessage } from '../../db/messages/submissions.ts';
import { holdUnanswered } from '../../db/messages/unanswered.ts';
import { transaction } from '../../db/transaction.ts';

const STORE_WITHIN_MS = 120_000;
const STORE_AGAIN_MS = 500;

/**
 * Repeats storing the provider's answer while the database is away. The answer exists nowhere else: without it the
 * message would have to count as unanswered.
 */
export async function untilStored<T>(store: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + STORE_WITHIN_MS;
  for (;;) {
    try {
      return await store();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      log.warn("the provider's answer could not be stored; tried again", { error });
      await delay(STORE_AGAIN_MS);
    }
  }
}

/**
 * Puts parts back that were claimed and certainly not taken.
 * @returns false when another attempt has given this one up meanwhile: the workflow, which would wait for a report, is signalled
 */
export async function putBack(
  sql: Database,
  some: PartsOf,
  claim: PartClaim | null,
  code: string | null,
): Promise<boolean> {
  if (claim?.state !== 'claimed') return true;
  const { at: claimedAt } = claim;
  const put = async (tx: Sql): Promise<boolean> => {
    await lockMessage(tx, some.messageId);
    if (await holdParts(tx, some, claimedAt, code)) return true;
    await holdUnanswered(tx, some, { claimedAt }, code);
    return false;
  };
  return await untilStored(() => transaction(sql, put));
}
