import { blacklistForOptOut } from '../db/incoming/blacklist.ts';
import { type Database, type Sql, transaction } from '../db/connection.ts';
import {
  accountOfKeyword,
  isMatched,
  lastMessageOf,
  lastMessageTo,
  lockReply,
  namesOf,
  ownerOfNumber,
  pendingEventsOf,
  type ReceivedReply,
  type ReplyMatch,
  settleReply,
  writeReceivedEvents,
} from '../db/incoming/inbound.ts';
import { isOptOut, splitKeyword } from '../domain/keywords.ts';
import { parseAddress } from '../domain/msisdn.ts';
import { addIds } from '../telemetry/ids.ts';
import { replyCounter } from '../telemetry/messageMetrics.ts';
import type { SettledReply } from '../workflows/contracts.ts';
import { unknownReply } from './failures.ts';
import { settleReservation } from '../db/money/reservations.ts';

/** Run as a local activity. */
export function inboundActivities(sql: Database) {
  return {
    /** Matches a reply, opts the sender out, writes the event: one transaction, idempotent. @throws ApplicationFailure `UnknownReply` */
    settleReply: async (id: string): Promise<SettledReply> => {
      const done = await transaction(sql, (tx) => settle(tx, id));
      if (done === null) throw unknownReply(id);
      const { settled, matched } = done;
      if (settled.accountId !== null) addIds({ accountId: settled.accountId });
      if (matched !== null) replyCounter.inc({ outcome: matched ? 'matched' : 'unmatched' });
      return settled;
    },
  };
}

/** @returns `matched` null: settled by an earlier call */
async function settle(
  tx: Sql,
  id: string,
): Promise<{ settled: SettledReply; matched: boolean | null } | null> {
  await settleReservation(tx, id);
  const reply = await lockReply(tx, id);
  if (reply === null) return null;
  if (reply.state !== 'received') {
    const events = await pendingEventsOf(tx, id);
    return { settled: { accountId: reply.accountId, events }, matched: null };
  }
  const match = await matchOf(tx, reply);
  await settleReply(tx, id, match);
  if (match === null) return { settled: { accountId: null, events: [] }, matched: false };
  if (match.optOut) await blacklistForOptOut(tx, match.accountId, reply.sender);
  await writeReceivedEvents(tx, id);
  const events = await pendingEventsOf(tx, id);
  return { settled: { accountId: match.accountId, events }, matched: isMatched(match) };
}

/** Matching rules of v2.3.0, Inbound replies: keyword, then last message to the sender; then the owner of the number. */
async function matchOf(tx: Sql, reply: ReceivedReply): Promise<ReplyMatch | null> {
  // An operator's notice or a short code is no phone to reply to or to unsubscribe.
  if (parseAddress(reply.sender) === null) return null;
  const split = splitKeyword(reply.text);
  const owner = split === null ? null : await accountOfKeyword(tx, split.keyword, reply.receiver);
  if (split !== null && owner !== null) {
    const replyTo = await lastMessageOf(tx, owner, reply);
    return {
      accountId: owner,
      text: split.rest,
      matchedBy: 'prefix',
      replyTo,
      optOut: isOptOut(split.rest, await namesOf(tx, owner, replyTo)),
    };
  }
  const message = await lastMessageTo(tx, reply);
  if (message === null) return await byNumber(tx, reply);
  return {
    accountId: message.accountId,
    text: reply.text,
    matchedBy: 'last_message',
    replyTo: message.id,
    optOut: isOptOut(reply.text, await namesOf(tx, message.accountId, message.id)),
  };
}

// "Sends to the customer's two-way number" (v1.2.0, Events). v2.3.0 has no such rule, and its API does not show these replies.
async function byNumber(tx: Sql, { receiver, text }: ReceivedReply): Promise<ReplyMatch | null> {
  const accountId = receiver === null ? null : await ownerOfNumber(tx, receiver);
  if (accountId === null) return null;
  const optOut = isOptOut(text, await namesOf(tx, accountId, null));
  return { accountId, text: null, matchedBy: null, replyTo: null, optOut };
}
