import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { Provider } from '../providers/provider.ts';
import { blacklistForOptOut } from '../db/incoming/blacklist.ts';
import type { Database, Sql } from '../db/connection.ts';
import {
  accountOfKeyword,
  lastMessageOf,
  lastMessageTo,
  lockReply,
  pendingEventsOf,
  type ReceivedReply,
  type ReplyMatch,
  settleReply,
  storeReplies,
  unprocessedAfter,
  writeReceivedEvent,
} from '../db/incoming/inbound.ts';
import { transaction } from '../db/transaction.ts';
import { type NetworkReply, storable } from '../domain/inbound.ts';
import { splitKeyword } from '../domain/keywords.ts';
import { parseAddress } from '../domain/msisdn.ts';
import { isOptOut } from '../domain/optOutWords.ts';
import { addIds } from '../telemetry/ids.ts';
import { countReply } from '../telemetry/reactionMetrics.ts';
import type { SettledReply } from '../workflows/contracts.ts';
import { inboundStart } from '../workflows/startOptions.ts';
import { unknownReply } from './failures.ts';

const AT_ONCE = 20;
// A Temporal server that does not answer must not keep the provider waiting for what is stored already.
const START_MS = 5_000;

/** What happens to replies: stored first, then each is handed to its workflow. */
export interface Replies {
  /** Stores replies; everything after that survives a crash by `catchUp`. */
  receive(route: Provider['name'], replies: NetworkReply[]): Promise<void>;
  /** Starts the workflows of replies that `keepReplies` stored. Never rejects. */
  begin(ids: string[]): Promise<void>;
  /** Starts the workflows of replies that are stored and were not processed. */
  catchUp(): Promise<void>;
}

/** @param onError is told of failures after the replies were stored; they are made up for by the next `catchUp` */
export function createReplies(sql: Database, client: Client, onError: (error: unknown) => void): Replies {
  const begin = (ids: string[]) => startAll(client, ids).catch(onError);
  return {
    begin,
    async receive(route, replies) {
      await begin(await keepReplies(sql, route, replies));
    },
    async catchUp() {
      for (let after = ''; ;) {
        const ids = await unprocessedAfter(sql, after, AT_ONCE);
        const last = ids.at(-1);
        if (last === undefined) return;
        await startAll(client, ids);
        after = last;
      }
    },
  };
}

/** Stores replies, for those who have more to do in the same transaction; returns the ids of those that are new. */
export function keepReplies(sql: Sql, route: Provider['name'], replies: NetworkReply[]): Promise<string[]> {
  return storeReplies(sql, route, replies.map(asStored));
}

/** Deciding whose a reply is; run as a local activity. */
export function inboundActivities(sql: Database) {
  return {
    /**
     * Matches a reply to an account and does all that follows from it, in one transaction: takes the keyword off, opts
     * the sender out, writes the event. Repeated, it changes nothing and answers the same.
     * @throws ApplicationFailure `UnknownReply`, for good
     */
    settleReply: async (id: string): Promise<SettledReply> => {
      const { settled, first } = await transaction(sql, (tx) => settle(tx, id));
      if (settled.accountId !== null) addIds({ accountId: settled.accountId });
      if (first) countReply(settled.accountId !== null);
      return settled;
    },
  };
}

async function settle(tx: Sql, id: string): Promise<{ settled: SettledReply; first: boolean }> {
  const reply = await lockReply(tx, id);
  if (reply === null) throw unknownReply(id);
  if (reply.state !== 'received') {
    const events = await pendingEventsOf(tx, id);
    return { settled: { accountId: reply.accountId, events }, first: false };
  }
  const match = await matchOf(tx, reply);
  await settleReply(tx, id, match);
  if (match === null) return { settled: { accountId: null, events: [] }, first: true };
  if (match.optOut) await blacklistForOptOut(tx, match.accountId, reply.sender);
  await writeReceivedEvent(tx, id);
  const events = await pendingEventsOf(tx, id);
  return { settled: { accountId: match.accountId, events }, first: true };
}

/** The matching rules of v2.3.0, Inbound replies: the keyword first, else who wrote last. */
async function matchOf(tx: Sql, reply: ReceivedReply): Promise<ReplyMatch | null> {
  // An operator's notice or a short code is no phone that anybody could answer or unsubscribe.
  if (parseAddress(reply.sender) === null) return null;
  const split = splitKeyword(reply.text);
  const owner = split === null ? null : await accountOfKeyword(tx, split.keyword, reply.receiver);
  if (split !== null && owner !== null) {
    return {
      accountId: owner,
      text: split.rest,
      matchedBy: 'prefix',
      replyTo: await lastMessageOf(tx, owner, reply),
      optOut: isOptOut(split.rest),
    };
  }
  const message = await lastMessageTo(tx, reply);
  if (message === null) return null;
  return {
    accountId: message.accountId,
    text: reply.text,
    matchedBy: 'last_message',
    replyTo: message.id,
    optOut: isOptOut(reply.text),
  };
}

// Providers write numbers as they like; an address that is no number stays as it came, for the operator's eyes.
function asStored({ providerReference, from, to, text }: NetworkReply): NetworkReply {
  const number = (address: string) => parseAddress(address) ?? storable(address);
  return { providerReference, from: number(from), to: to === null ? null : number(to), text: storable(text) };
}

async function startAll(client: Client, ids: string[]): Promise<void> {
  await client.withDeadline(Date.now() + START_MS, async () => {
    for (let i = 0; i < ids.length; i += AT_ONCE) {
      await Promise.all(ids.slice(i, i + AT_ONCE).map((id) => startOnce(client, id)));
    }
  });
}

async function startOnce(client: Client, id: string): Promise<void> {
  try {
    await client.workflow.start('inbound', inboundStart(id));
  } catch (error) {
    // Somebody was faster, and it has ended.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
