import { createHash } from 'node:crypto';
import type { Provider } from '../providers/provider.ts';
import { type Database, type Sql, transaction } from '../db/connection.ts';
import { storeReplies } from '../db/incoming/inbound.ts';
import { type NetworkReply, type ReplyPart, storable } from '../domain/incoming.ts';
import { parseAddress } from '../domain/msisdn.ts';
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

/** Stores replies, whose workflows the workers start; returns the ids of those that are new. */
export function keepReplies(sql: Sql, route: Provider['name'], replies: NetworkReply[]): Promise<string[]> {
  return storeReplies(sql, route, replies.map(asStored));
}

// Providers write numbers as they like; an address that is no number stays as it came, for staff's eyes.
function asStored({ providerReference, from, to, text }: NetworkReply): NetworkReply {
  const number = (address: string) => parseAddress(address) ?? storable(address);
  return { providerReference, from: number(from), to: to === null ? null : number(to), text: storable(text) };
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
export function createReplyParts(sql: Database, waitSeconds = WAIT_SECONDS): ReplyParts {
  return {
    receive: (route, part) => transaction(sql, (tx) => take(tx, groupOf(route, part), part, waitSeconds)),
    async flush() {
      for (;;) {
        const groups = await lateGroups(sql, waitSeconds, GROUPS_A_PAGE);
        for (const group of groups) await transaction(sql, (tx) => takeLate(tx, group, waitSeconds));
        if (groups.length < GROUPS_A_PAGE) break;
      }
      await forgetParts(sql);
    },
  };
}

/** One transaction: stores a part and makes what replies there are. */
async function take(tx: Sql, group: PartGroup, part: ReplyPart, waitSeconds: number): Promise<void> {
  await lockParts(tx, group);
  const waiting = await openParts(tx, group, waitSeconds);
  const others = isOver(waiting) || waiting.some((one) => contradicts(one, part));
  if (others) await handOver(tx, group, waiting);
  await storePart(tx, group, part);
  const now = await openParts(tx, group, waitSeconds);
  if (now.length >= group.total) await handOver(tx, group, now);
}

async function takeLate(tx: Sql, group: PartGroup, waitSeconds: number): Promise<void> {
  await lockParts(tx, group);
  const waiting = await openParts(tx, group, waitSeconds);
  if (isOver(waiting)) await handOver(tx, group, waiting);
}

async function handOver(tx: Sql, group: PartGroup, parts: OpenPart[]): Promise<void> {
  await closeParts(tx, group);
  await keepReplies(tx, group.route, [
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
