import type { Client } from '@temporalio/client';
import type { Provider } from '../providers/provider.ts';
import type { Database, Sql } from '../db/connection.ts';
import { type FoundReply, storeReplies, unprocessedAfter, unprocessedAmong } from '../db/incoming/inbound.ts';
import { type NetworkReply, storable } from '../domain/inbound.ts';
import { parseAddress } from '../domain/msisdn.ts';
import { createRunning } from '../concurrency/running.ts';
import { createSemaphore, type Semaphore } from '../concurrency/semaphore.ts';
import { startOnce } from '../workflows/startOnce.ts';
import { inboundStart, type TO_REPEAT } from '../workflows/startOptions.ts';
import { createStartedLately, type StartedLately } from './startedLately.ts';
import { createCatchUp } from './startForgotten.ts';

const STARTS_MAX = 20;
// Apart from those places: new replies have five seconds for their start, and must not wait behind old ones.
const CATCH_UP_AT_ONCE = 10;
const CATCH_UP_MAX = 200;
// From when it is stored. What Temporal has not started by then is left to `catchUp`, so that what waits for a server that
// does not answer is bounded.
const START_MS = 5_000;

/** What happens to replies: stored first, then each is handed to its workflow. */
export interface Replies {
  /**
   * Stores replies; everything after that survives a crash by `catchUp`. Their workflows are started by themselves: what
   * is stored is to be acknowledged, whether Temporal answers or not.
   */
  receive(route: Provider['name'], replies: NetworkReply[]): Promise<void>;
  /** Starts the workflows of replies that `keepReplies` stored, within five seconds or not at all. Never rejects. */
  begin(ids: string[]): Promise<void>;
  /** Resolves once what was begun by now is over: within five seconds. */
  settled(): Promise<void>;
  /** Starts the workflows of replies that are stored and were not processed: one pass of `createCatchUp`. */
  catchUp(): Promise<void>;
}

/** @param onError gets failures after the replies were stored; they are made up for by the next `catchUp` */
export function createReplies(sql: Database, client: Client, onError: (error: unknown) => void): Replies {
  const places = createSemaphore({ places: STARTS_MAX });
  const lately = createStartedLately();
  const starts = createRunning();
  const begin = (ids: string[]): Promise<void> => {
    const starting = beginAll(client, places, lately, ids).catch(onError);
    starts.add(starting);
    return starting;
  };
  return {
    begin,
    settled: () => starts.settled(),
    async receive(route, replies) {
      void begin(await keepReplies(sql, route, replies));
    },
    catchUp: createCatchUp<{ id: string }, FoundReply>(
      {
        idOf: ({ id }) => id,
        openAfter: (after, limit) => unprocessedAfter(sql, after, limit),
        start: ({ id }, reuse) => client.withDeadline(Date.now() + START_MS, () => start(client, id, reuse)),
        stillOpen: (completed) => unprocessedAmong(sql, completed),
        startsMax: CATCH_UP_MAX,
        atOnce: CATCH_UP_AT_ONCE,
      },
      lately,
    ),
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

async function beginAll(
  client: Client,
  places: Semaphore<void>,
  lately: StartedLately,
  ids: readonly string[],
): Promise<void> {
  const until = Date.now() + START_MS;
  const limit = { until, error: () => new Error('workflows of replies wait for a place to be started') };
  const beginOne = async (id: string): Promise<void> => {
    if ((await start(client, id)) !== null) lately.add(id);
  };
  await client.withDeadline(until, async () => {
    await Promise.all(ids.map((id) => places.run(undefined, () => beginOne(id), limit)));
  });
}

/** @returns null where it has completed, and is not run again */
function start(client: Client, id: string, reuse: Partial<typeof TO_REPEAT> = {}): Promise<unknown> {
  return startOnce(client.workflow.start('inbound', { ...inboundStart(id), ...reuse }));
}
