import { readAccount } from '../db/accounts/accounts.ts';
import { type InboundFilter, readAndMark, readInbound } from '../db/incoming/replies.ts';
import type { InboundRow } from '../domain/incoming.ts';
import { Refused } from '../domain/refusals.ts';
import type { OperationContext } from './context.ts';

/** Which replies are wanted. */
export interface RepliesInput extends InboundFilter {
  /** Most of them. */
  limit: number;
  /** Marks those that are returned as read. */
  mark_read: boolean;
}

/** A page of replies, and where the account receives them. */
interface Replies {
  /** Newest first. */
  replies: InboundRow[];
  /** The id behind which the next page begins; null: there is none. */
  last: string | null;
  /** E.164; null: the account receives no replies. */
  number: string | null;
  keyword: string | null;
}

/**
 * Lists replies (v2.3.0, Inbound replies), none as long as the account receives none, and marks them as read where that is
 * asked for: of readers at the same time who ask for unread ones, each reply goes to exactly one.
 * @throws Refused for marks by a key that may change nothing
 */
export async function listReplies({
  services: { sql },
  caller: { accountId, readOnly },
  input: { limit, mark_read: mark, ...filter },
}: OperationContext<RepliesInput>): Promise<Replies> {
  if (mark && readOnly) throw new Refused({ reason: 'test_key_on_live_account' }, 'mark_read');
  const account = await readAccount(sql, accountId);
  if (account === null) throw new Refused({ reason: 'account_closed' });
  const { inboundNumber: number, inboundPrefix: keyword } = account;
  if (number === null) return { replies: [], last: null, number, keyword };
  // The one that is asked for beyond the page is not marked.
  const found = mark
    ? await readAndMark(sql, accountId, filter, limit + 1, limit)
    : await readInbound(sql, accountId, filter, limit + 1);
  const replies = found.slice(0, limit);
  return { replies, last: found.length > limit ? replies.at(-1)!.id : null, number, keyword };
}
