import { blacklistForOptOut } from '../../db/incoming/blacklist.ts';
import {
  lastMessageOf,
  lockReply,
  namesOf,
  type ReceivedReply,
  reserveEventsOf,
  settleReply,
  writeReceivedEvents,
} from '../../db/incoming/inbound.ts';
import type { Sql } from '../../db/connection.ts';
import { eraseReplies } from '../../db/maintenance/retention.ts';
import { isOptOut } from '../../domain/keywords.ts';
import { maskMsisdn } from '../../domain/msisdn.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { findOpenAccountForUpdate } from '../accounts/accounts.ts';
import { recorded } from '../staff.ts';

/**
 * Gives an unmatched reply to an account: as an answer to its last message to that phone within 30 days, otherwise as if it had begun with
 * the account's keyword. Its webhook is notified, and an opt-out counts.
 * @throws StaffRefused account_missing, account_not_open, reply_missing, reply_not_unmatched
 */
export const assignReply = recorded(
  'inbound assign',
  async (tx, { id, account }: { id: string; account: string }) => {
    await findOpenAccountForUpdate(tx, account);
    const reply = await lockUnmatched(tx, id);
    const replyTo = await lastMessageOf(tx, account, reply);
    const matchedBy = replyTo === null ? 'prefix' : 'last_message';
    const optOut = isOptOut(reply.text, await namesOf(tx, account, replyTo));
    await settleReply(tx, id, { accountId: account, text: reply.text, matchedBy, replyTo, optOut });
    if (optOut) await blacklistForOptOut(tx, account, reply.sender);
    await writeReceivedEvents(tx, id);
    await reserveEventsOf(tx, id);
    const data = { id, accountId: account, replyTo, optOut };
    return { data, account, subject: id, details: { reply_to: replyTo, opt_out: optOut } };
  },
);

/** Erases an unmatched reply, which nobody gets. @throws StaffRefused reply_missing, reply_not_unmatched */
export const dropReply = recorded('inbound drop', async (tx, { id }: { id: string }) => {
  await eraseReplies(tx, [await lockUnmatched(tx, id)], maskMsisdn);
  return { data: undefined, subject: id };
});

async function lockUnmatched(tx: Sql, id: string): Promise<ReceivedReply> {
  const reply = await lockReply(tx, id);
  if (reply === null) throw new StaffRefused({ reason: 'reply_missing', reply: id });
  if (reply.state !== 'unmatched' || reply.accountId !== null || reply.erasedAt !== null)
    throw new StaffRefused({ reason: 'reply_not_unmatched', reply: id });
  return reply;
}
