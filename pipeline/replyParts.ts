import { createHash } from 'node:crypto';
import type { Provider } from '../providers/provider.ts';
import type { Database, Sql } from '../db/connection.ts';
import {
  closeSegments,
  forgetSegments,
  lateGroups,
  lockSegments,
  type OpenSegment,
  openSegments,
  type SegmentGroup,
  storeSegment,
} from '../db/incoming/replySegments.ts';
import { transaction } from '../db/transaction.ts';
import { type ReplySegment, storable } from '../domain/inbound.ts';
import { joinSegments } from '../domain/smsText.ts';
import { keepReplies, type Replies } from './replies.ts';

const WAIT_SECONDS = 300;
const AT_ONCE = 100;
// Longer ones are nobody's, and too long for an index.
const LONGEST_ADDRESS = 64;

/** What happens to segments of replies: each is stored, and all of a reply together become one. */
export interface ReplySegments {
  /** Stores a segment; the last one of a reply makes the reply. */
  receive(route: Provider['name'], segment: ReplySegment): Promise<void>;
  /** Makes replies of what came of those whose other segments have not come in time; forgets what is done with. */
  flush(): Promise<void>;
}

/**
 * A segment handed over again is known for 10 minutes after its reply was made. Phones and SMSCs use their numbers again
 * and again, so what contradicts a segment that is waiting, or comes after its time, belongs to another reply.
 *
 * @param waitSeconds how long the others are waited for after each segment
 */
export function createReplySegments(
  sql: Database,
  replies: Pick<Replies, 'begin'>,
  waitSeconds = WAIT_SECONDS,
): ReplySegments {
  return {
    async receive(route, segment) {
      const group = groupOf(route, segment);
      await replies.begin(await transaction(sql, (tx) => take(tx, group, segment, waitSeconds)));
    },
    async flush() {
      for (;;) {
        const groups = await lateGroups(sql, waitSeconds, AT_ONCE);
        for (const group of groups) {
          await replies.begin(await transaction(sql, (tx) => takeLate(tx, group, waitSeconds)));
        }
        if (groups.length < AT_ONCE) break;
      }
      await forgetSegments(sql);
    },
  };
}

/** One transaction: stores a segment and makes what replies there are; returns their ids. */
async function take(
  tx: Sql,
  group: SegmentGroup,
  segment: ReplySegment,
  waitSeconds: number,
): Promise<string[]> {
  await lockSegments(tx, group);
  const waiting = await openSegments(tx, group, waitSeconds);
  const others = isOver(waiting) || waiting.some((one) => contradicts(one, segment));
  const before = others ? await handOver(tx, group, waiting) : [];
  await storeSegment(tx, group, segment);
  const now = await openSegments(tx, group, waitSeconds);
  return now.length < group.total ? before : [...before, ...(await handOver(tx, group, now))];
}

async function takeLate(tx: Sql, group: SegmentGroup, waitSeconds: number): Promise<string[]> {
  await lockSegments(tx, group);
  const waiting = await openSegments(tx, group, waitSeconds);
  return isOver(waiting) ? await handOver(tx, group, waiting) : [];
}

async function handOver(tx: Sql, group: SegmentGroup, segments: OpenSegment[]): Promise<string[]> {
  await closeSegments(tx, group);
  return await keepReplies(tx, group.route, [
    {
      providerReference: referenceOf(group, segments),
      from: group.sender,
      to: group.receiver === '' ? null : group.receiver,
      text: joinSegments(segments, group.total),
    },
  ]);
}

// Notified from an earlier reply under the same numbers by when its segments came.
function referenceOf(group: SegmentGroup, segments: OpenSegment[]): string {
  const named = [group, segments.map(({ number, receivedAt }) => [number, receivedAt])];
  return `segments:${createHash('sha256').update(JSON.stringify(named)).digest('hex').slice(0, 32)}`;
}

function isOver(segments: OpenSegment[]): boolean {
  return segments.length > 0 && segments.every(({ late }) => late);
}

function contradicts(waiting: OpenSegment, { number, encoding, content }: ReplySegment): boolean {
  return waiting.number === number && (waiting.encoding !== encoding || !waiting.content.equals(content));
}

function groupOf(route: string, { from, to, reference, total }: ReplySegment): SegmentGroup {
  const name = (address: string) => storable(address.slice(0, LONGEST_ADDRESS));
  return { route, sender: name(from), receiver: name(to ?? ''), reference: name(reference), total };
}
