import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Provider } from '../providers/provider.ts';
import { type Database, type Sql, transaction } from '../db/connection.ts';
import { namedParts } from '../db/incoming/deliveryReports.ts';
import { storeReplies } from '../db/incoming/inbound.ts';
import { storable } from '../domain/ids.ts';
import type { NetworkReply, ReplyPart } from '../domain/incoming.ts';
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
import { joinParts } from '../domain/receivedText.ts';
import type { DeliveryReports } from './deliveryReports.ts';

// Until the answer to a submit is stored, whose receipt came along with it.
const LOOKS_MS = [100, 200, 400, 800];

/**
 * Stores what phones sent. A text that reads like a receipt is one only where its id is of a part that this route submitted to that very
 * phone, else a reply. @throws Error while a submit to the phone awaits its answer, so that the SMSC delivers the text again
 */
export async function receiveReplies(
  sql: Database,
  reports: Pick<DeliveryReports, 'receive'>,
  route: Provider['name'],
  replies: NetworkReply[],
): Promise<void> {
  const receipts = replies.flatMap(({ receipt }) => receipt ?? []);
  let named = receipts.length === 0 ? [] : await namedParts(sql, route, receipts);
  for (const ms of LOOKS_MS) {
    if (!named.includes('maybe')) break;
    await delay(ms);
    named = await namedParts(sql, route, receipts);
  }
  if (named.includes('maybe')) throw new Error('a text may be a receipt for a submit that is still open');
  const ours = receipts.filter((_, index) => named[index] === 'submitted');
  const others = replies.filter(({ receipt }) => !ours.some((one) => one === receipt));
  if (ours.length > 0) await reports.receive(route, ours);
  if (others.length > 0) await keepReplies(sql, route, others);
}

/** Stores replies, whose workflows the workers start. @returns the ids of the new ones */
export function keepReplies(sql: Sql, route: Provider['name'], replies: NetworkReply[]): Promise<string[]> {
  return storeReplies(sql, route, replies.map(asStored));
}

// Providers format numbers in various ways; an address that is no number is kept as it came, for staff.
function asStored({ providerReference, from, to, text }: NetworkReply): NetworkReply {
  const number = (address: string) => parseAddress(address) ?? storable(address);
  return { providerReference, from: number(from), to: to === null ? null : number(to), text: storable(text) };
}

const WAIT_SECONDS = 300;
const GROUPS_A_PAGE = 100;
// No real address is longer, and an index could not hold it.
const LONGEST_ADDRESS = 64;

export interface ReplyParts {
  /** Stores a part; the last missing one makes the reply. */
  receive(route: Provider['name'], part: ReplyPart): Promise<void>;
  /** Makes replies of groups whose missing parts did not arrive in time; deletes expired parts. */
  flush(): Promise<void>;
}

/**
 * Phones and SMSCs reuse reference numbers: a part that contradicts a waiting one, or arrives after the wait, belongs to another reply. A
 * part received again is recognized for 10 minutes.
 * @param waitSeconds how long to wait for further parts, counted from the last one
 */
export function createReplyParts(sql: Database, waitSeconds = WAIT_SECONDS): ReplyParts {
  return {
    receive: (route, part) =>
      transaction(sql, (tx) => receivePart(tx, groupOf(route, part), part, waitSeconds)),
    async flush() {
      for (;;) {
        const groups = await lateGroups(sql, waitSeconds, GROUPS_A_PAGE);
        for (const group of groups) await transaction(sql, (tx) => flushGroup(tx, group, waitSeconds));
        if (groups.length < GROUPS_A_PAGE) break;
      }
      await forgetParts(sql);
    },
  };
}

async function receivePart(tx: Sql, group: PartGroup, part: ReplyPart, waitSeconds: number): Promise<void> {
  await lockParts(tx, group);
  const waiting = await openParts(tx, group, waitSeconds);
  const others = isTimedOut(waiting) || waiting.some((one) => contradicts(one, part));
  if (others) await makeReply(tx, group, waiting);
  await storePart(tx, group, part);
  const now = await openParts(tx, group, waitSeconds);
  if (now.length >= group.total) await makeReply(tx, group, now);
}

async function flushGroup(tx: Sql, group: PartGroup, waitSeconds: number): Promise<void> {
  await lockParts(tx, group);
  const waiting = await openParts(tx, group, waitSeconds);
  if (isTimedOut(waiting)) await makeReply(tx, group, waiting);
}

async function makeReply(tx: Sql, group: PartGroup, parts: OpenPart[]): Promise<void> {
  await closeParts(tx, group);
  const text = joinParts(parts, group.total);
  if (text === null) return;
  await keepReplies(tx, group.route, [
    {
      providerReference: referenceOf(group, parts),
      from: group.sender,
      to: group.receiver === '' ? null : group.receiver,
      text,
    },
  ]);
}

// The arrival times tell it from an earlier reply with the same reference number.
function referenceOf(group: PartGroup, parts: OpenPart[]): string {
  const named = [group, parts.map(({ number, receivedAt }) => [number, receivedAt])];
  return `parts:${createHash('sha256').update(JSON.stringify(named)).digest('hex').slice(0, 32)}`;
}

function isTimedOut(parts: OpenPart[]): boolean {
  return parts.length > 0 && parts.every(({ late }) => late);
}

function contradicts(waiting: OpenPart, { number, encoding, content }: ReplyPart): boolean {
  return waiting.number === number && (waiting.encoding !== encoding || !waiting.content.equals(content));
}

function groupOf(route: string, { from, to, reference, total }: ReplyPart): PartGroup {
  const name = (address: string) => storable(address.slice(0, LONGEST_ADDRESS));
  return { route, sender: name(from), receiver: name(to ?? ''), reference: name(reference), total };
}
