import type { Client } from '@temporalio/client';
import type { Provider } from '../providers/provider.ts';
import type { Database, Sql } from '../db/connection.ts';
import { storeReplies, unprocessedAfter } from '../db/incoming/inbound.ts';
import { type NetworkReply, storable } from '../domain/inbound.ts';
import { parseAddress } from '../domain/msisdn.ts';
import { startOnce } from '../workflows/startOnce.ts';
import { inboundStart } from '../workflows/startOptions.ts';

const STARTS_MAX = 20;
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

/** @param onError gets failures after the replies were stored; they are made up for by the next `catchUp` */
export function createReplies(sql: Database, client: Client, onError: (error: unknown) => void): Replies {
  const begin = (ids: string[]) => startAll(client, ids).catch(onError);
  return {
    begin,
    async receive(route, replies) {
      await begin(await keepReplies(sql, route, replies));
    },
    async catchUp() {
      for (let after = ''; ;) {
        const ids = await unprocessedAfter(sql, after, STARTS_MAX);
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

// Providers write numbers as they like; an address that is no number stays as it came, for staff's eyes.
function asStored({ providerReference, from, to, text }: NetworkReply): NetworkReply {
  const number = (address: string) => parseAddress(address) ?? storable(address);
  return { providerReference, from: number(from), to: to === null ? null : number(to), text: storable(text) };
}

async function startAll(client: Client, ids: string[]): Promise<void> {
  await client.withDeadline(Date.now() + START_MS, async () => {
    for (let i = 0; i < ids.length; i += STARTS_MAX) {
      const some = ids.slice(i, i + STARTS_MAX);
      await Promise.all(some.map((id) => startOnce(client.workflow.start('inbound', inboundStart(id)))));
    }
  });
}
