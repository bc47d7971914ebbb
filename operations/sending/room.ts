import { readMessageUsage } from '../../db/accounts/quotas.ts';
import type { NewMessage } from '../../db/messages/accept.ts';
import type { Sql } from '../../db/connection.ts';
import { quotasOf } from '../../domain/quotas.ts';
import { quotaReached } from '../quotas.ts';
import type { Plan } from './plan.ts';
import type { Refused } from '../../domain/refusals.ts';

/**
 * What a send would have too much of: messages that wait for their time, or that cost nothing in the end. Asks nothing for a
 * send that has neither. Counted before it is written: what is scheduled by requests of the account that are under way at the same time
 * may get past together, by their recipients at most. Of what is rejected, where it is several, the acceptance is exact.
 */
export async function messageQuotaRefusal(
  sql: Sql,
  accountId: string,
  { terms, messages }: Plan,
): Promise<Refused | null> {
  const rejected = unpaidOf(messages);
  const scheduled = messages.filter(
    ({ rejected: isRejected, timing }) => !isRejected && timing.acceptedAs === 'scheduled',
  ).length;
  if (rejected.unpaid_messages === 0 && scheduled === 0) return null;
  const limits = quotasOf(terms.quotas);
  const used = await readMessageUsage(sql, accountId, limits, terms.now);
  for (const quota of ['unpaid_messages', 'unpaid_bytes'] as const) {
    // What is scheduled can be cancelled for nothing.
    if (used[quota] + Math.max(rejected[quota], 1) > limits[quota])
      return quotaReached(quota, limits[quota], 'to');
  }
  if (scheduled > 0 && used.scheduled_messages + scheduled > limits.scheduled_messages)
    return quotaReached('scheduled_messages', limits.scheduled_messages, 'to');
  return null;
}

/** Those of a plan that cost nothing from the start. Their texts are as long as those that are written. */
function unpaidOf(messages: Plan['messages']): Record<'unpaid_messages' | 'unpaid_bytes', number> {
  const rejected = messages.filter((message) => message.rejected);
  return {
    unpaid_messages: rejected.length,
    unpaid_bytes: rejected.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0),
  };
}

/** @throws Refused where the links that messages would make are more than the account may have */
export function refuseLinksBeyond({ terms, wording }: Plan, messages: readonly NewMessage[]): void {
  const made = messages.flatMap(({ links }) => links.filter(({ isNew }) => isNew)).length;
  const limit = quotasOf(terms.quotas).links;
  if (made > 0 && terms.links + made > limit) throw quotaReached('links', limit, wording.field);
}
