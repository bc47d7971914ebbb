import { readAccount } from '../db/accounts/accounts.ts';
import { type InboundFilter, readAndMark, readInbound } from '../db/incoming/replies.ts';
import type { InboundRow } from '../domain/incoming.ts';
import { Refused } from '../domain/refusals.ts';
import type { OperationContext } from './context.ts';

export interface RepliesInput extends InboundFilter {
  limit: number;
  /** Marks the returned replies as read. */
  mark_read: boolean;
}

/**
 * Lists replies, newest first, and optionally marks them as read (v2.3.0, Inbound replies). Each unread reply goes to exactly one of concurrent readers.
 * @returns `last`: the cursor of the next page, null on the last; `number` E.164, null: the account receives no replies
 * @throws Refused for `mark_read` with a read-only key
 */
export async function listReplies({
  services: { sql },
  caller: { accountId, readOnly },
  input: { limit, mark_read: mark, ...filter },
}: OperationContext<RepliesInput>) {
  if (mark && readOnly) throw new Refused({ reason: 'test_key_on_live_account' }, 'mark_read');
  const account = await readAccount(sql, accountId);
  if (account === null) throw new Refused({ reason: 'account_closed' });
  const { inboundNumber: number, inboundPrefix: keyword } = account;
  if (number === null) return { replies: [] as InboundRow[], last: null, number, keyword };
  // The extra row that detects a next page is not marked.
  const found = mark
    ? await readAndMark(sql, accountId, filter, limit + 1, limit)
    : await readInbound(sql, accountId, filter, limit + 1);
  const replies = found.slice(0, limit);
  return { replies, last: found.length > limit ? replies.at(-1)!.id : null, number, keyword };
}
