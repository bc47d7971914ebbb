import type { Client } from '@temporalio/client';
import { createHash } from 'node:crypto';
import type { Provider } from '../providers/provider.ts';
import { type Database, type Sql, transaction } from '../db/connection.ts';
import { type FoundReply, storeReplies, unprocessedAfter, unprocessedAmong } from '../db/incoming/inbound.ts';
import { type NetworkReply, type ReplyPart, storable } from '../domain/incoming.ts';
import { parseAddress } from '../domain/msisdn.ts';
import { createRunning } from '../concurrency/tasks.ts';
import { createSemaphore, type Semaphore } from '../concurrency/semaphore.ts';
import { startOnce } from '../workflows/starts.ts';
import { inboundStart, type TO_REPEAT } from '../workflows/startOptions.ts';
import { createCatchUp, createStartedLately, type StartedLately } from './catchUp.ts';
import {
  closeParts,
  forgetParts,
  lateGroups,
  lockParts,
  type OpenPart,
  openParts,
  type PartGroup,
  storePart,
} from '../db/incoming/replies.ts';
import { joinParts } from '../domain/sms.ts';

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

const WAIT_SECONDS = 300;
const GROUPS_A_PAGE = 100;
// Longer ones are nobody's, and too long for an index.
const LONGEST_ADDRESS = 64;

/** What happens to parts of replies: each is stored, and all of a reply together become one. */
export interface ReplyParts {
  /** Stores a part; the last one of a reply makes the reply. */
  receive(route: Provider['name'], part: ReplyPart): Promise<void>;
  /** Makes replies of what came of those whose other parts have not come in time; forgets what is done with. */
  flush(): Promise<void>;
}

/**
 * A part handed over again is known for 10 minutes after its reply was made. Phones and SMSCs use their numbers again
 * and again, so what contradicts a part that is waiting, or comes after its time, belongs to another reply.
 *
 * @param waitSeconds how long the others are waited for after each part
 */
export function createReplyParts(
  sql: Database,
  replies: Pick<Replies, 'begin'>,
  waitSeconds = WAIT_SECONDS,
): ReplyParts {
  return {
    async receive(route, part) {
      const group = groupOf(route, part);
      // As with whole replies: the acknowledgement waits for the store alone.
      void replies.begin(await transaction(sql, (tx) => take(tx, group, part, waitSeconds)));
    },
    async flush() {
      for (;;) {
        const groups = await lateGroups(sql, waitSeconds, GROUPS_A_PAGE);
        for (const group of groups) {
          await replies.begin(await transaction(sql, (tx) => takeLate(tx, group, waitSeconds)));
        }
        if (groups.length < GROUPS_A_PAGE) break;
      }
      await forgetParts(sql);
    },
  };
}

/** One transaction: stores a part and makes what replies there are; returns their ids. */
async function take(tx: Sql, group: PartGroup, part: ReplyPart, waitSeconds: number): Promise<string[]> {
  await lockParts(tx, group);
  const waiting = await openParts(tx, group, waitSeconds);
  const others = isOver(waiting) || waiting.some((one) => contradicts(one, part));
  const before = others ? await handOver(tx, group, waiting) : [];
  await storePart(tx, group, part);
  const now = await openParts(tx, group, waitSeconds);
  return now.length < group.total ? before : [...before, ...(await handOver(tx, group, now))];
}

async function takeLate(tx: Sql, group: PartGroup, waitSeconds: number): Promise<string[]> {
  await lockParts(tx, group);
  const waiting = await openParts(tx, group, waitSeconds);
  return isOver(waiting) ? await handOver(tx, group, waiting) : [];
}

async function handOver(tx: Sql, group: PartGroup, parts: OpenPart[]): Promise<string[]> {
  await closeParts(tx, group);
  return await keepReplies(tx, group.route, [
    {
      providerReference: referenceOf(group, parts),
      from: group.sender,
      to: group.receiver === '' ? null : group.receiver,
      text: joinParts(parts, group.total),
    },
  ]);
}

// Distinguished from an earlier reply under the same numbers by when its parts came.
function referenceOf(group: PartGroup, parts: OpenPart[]): string {
  const named = [group, parts.map(({ number, receivedAt }) => [number, receivedAt])];
  return `parts:${createHash('sha256').update(JSON.stringify(named)).digest('hex').slice(0, 32)}`;
}

function isOver(parts: OpenPart[]): boolean {
  return parts.length > 0 && parts.every(({ late }) => late);
}

function contradicts(waiting: OpenPart, { number, encoding, content }: ReplyPart): boolean {
  return waiting.number === number && (waiting.encoding !== encoding || !waiting.content.equals(content));
}

function groupOf(route: string, { from, to, reference, total }: ReplyPart): PartGroup {
  const name = (address: string) => storable(address.slice(0, LONGEST_ADDRESS));
  return { route, sender: name(from), receiver: name(to ?? ''), reference: name(reference), total };
}
