import { createHash, randomUUID } from 'node:crypto';
import { storable } from '../../domain/ids.ts';
import type { ByteEncoding, NetworkReply, ReplyPart } from '../../domain/incoming.ts';
import type { DeliveryReport } from '../../domain/submission.ts';
import { encodingOf, phoneOf, USER_DATA_HEADER } from './content.ts';
import type { DeliverPdu } from './wire.ts';
import { isReceipt, readReceipt, readUnmarkedReceipt } from './receipts.ts';
import type { SmppSettings } from './settings.ts';
import { type Concatenation, concatenation, readUserData, STATUS, type UserData } from './codec.ts';
import { createBatcher } from '../../concurrency/gather.ts';
import { createSemaphore } from '../../concurrency/semaphore.ts';
import type { ProviderHandlers } from '../provider.ts';
import { decodeText } from '../../domain/receivedText.ts';
import type { Session } from './session.ts';

interface IncomingReply {
  from: string;
  to: string | null;
  encoding: ByteEncoding;
  content: Buffer;
}

type Incoming =
  | { kind: 'report'; report: DeliveryReport }
  | { kind: 'reply'; reply: IncomingReply; text: string; receipt: DeliveryReport | null }
  | { kind: 'part'; part: ReplyPart }
  /** `reason` is for staff, without content. */
  | { kind: 'unreadable'; reason: string };

// An SMS has at most 140 octets, unpacked 160 septets; anything longer is not a part.
const LONGEST_PART = 160;
// Longer addresses are invalid (SMPP 3.4, 5.2.8: 20 characters) and too long for an index.
const LONGEST_ADDRESS = 64;

/** Reads a deliver_sm; never throws. A text longer than an SMS that claims to be a part counts as a whole reply. */
export function readDeliver(
  pdu: DeliverPdu,
  settings: Pick<SmppSettings, 'ids' | 'defaultAlphabet' | 'longReports'>,
): Incoming {
  const { content, concatenation: headed } = userData(pdu);
  if (isReceipt(pdu)) {
    const report = readReceipt(pdu, content, settings);
    return report === null
      ? { kind: 'unreadable', reason: 'a receipt without message id and state' }
      : { kind: 'report', report };
  }
  const encoding = encodingOf(pdu.data_coding, settings.defaultAlphabet);
  const noText = { kind: 'unreadable', reason: `no text, data_coding ${pdu.data_coding}` } as const;
  if (encoding === null) return noText;
  if (content.length === 0 && pdu.brokenTlv !== null) {
    return { kind: 'unreadable', reason: 'no text before a broken TLV' };
  }
  const reply: IncomingReply = {
    from: addressOf(pdu.source_addr_ton, pdu.source_addr),
    to: pdu.destination_addr === '' ? null : addressOf(pdu.dest_addr_ton, pdu.destination_addr),
    encoding,
    content,
  };
  const one = headed ?? sarOf(pdu);
  if (one !== null && one.total > 1 && content.length <= LONGEST_PART)
    return { kind: 'part', part: { ...reply, ...one } };
  const text = decodeText(encoding, content);
  if (text === null) return noText;
  return { kind: 'reply', reply, text, receipt: readUnmarkedReceipt(pdu, content, settings) };
}

function userData(pdu: DeliverPdu): UserData {
  const bytes = pdu.short_message.length > 0 ? pdu.short_message : (pdu.message_payload ?? pdu.short_message);
  return (pdu.esm_class & USER_DATA_HEADER) !== 0
    ? readUserData(bytes)
    : { content: bytes, concatenation: null };
}

function sarOf(pdu: DeliverPdu): Concatenation | null {
  const { sar_msg_ref_num, sar_total_segments, sar_segment_seqnum } = pdu;
  if (sar_msg_ref_num === undefined || sar_total_segments === undefined || sar_segment_seqnum === undefined) {
    return null;
  }
  return concatenation(`sar:${sar_msg_ref_num}`, sar_total_segments, sar_segment_seqnum);
}

// Phone numbers in E.164 with plus; short codes and names as received.
function addressOf(ton: number, address: string): string {
  return phoneOf(ton, address) ?? storable(address.trim().slice(0, LONGEST_ADDRESS));
}

// An acknowledgement up to this old may not have reached the SMSC when the connection breaks.
const UNCERTAIN_ACK_MS = 30_000;
// For so long after a lost connection the SMSC may redeliver what was not acknowledged.
const REDELIVERY_WINDOW_MS = 600_000;
const MOST_REMEMBERED = 10_000;

interface TrackedReply {
  /** The same for a redelivery; another one when a person sends the same text again. */
  readonly providerReference: string;
  acknowledged(): void;
  unacknowledged(): void;
}

interface Entry {
  digest: string;
  reference: string;
  /** Until then a lost connection may have swallowed the acknowledgement; null: not sent yet. */
  doubtfulUntil: number | null;
}

/**
 * Tells a redelivered reply from the same text sent again, as a deliver_sm has no id: a reply that was acknowledged in a session's last 30
 * seconds, or not at all, is matched once if it comes again within ten minutes on any session. In memory only: after a crash, or when the
 * SMSC redelivers to another worker, the reply is stored twice.
 */
export function createRedeliveries<S extends object>(now: () => number = Date.now) {
  const recent = new WeakMap<S, Set<Entry>>();
  const expected = createExpected();

  return {
    handedOver(session: S, reply: IncomingReply): TrackedReply {
      const digest = digestOf(reply);
      const entry: Entry = {
        digest,
        reference: expected.take(digest, now()) ?? `${digest.slice(0, 32)}-${randomUUID()}`,
        doubtfulUntil: null,
      };
      const entries = recent.get(session) ?? new Set();
      recent.set(session, entries);
      pruneAcknowledged(entries, now());
      entries.add(entry);
      return {
        providerReference: entry.reference,
        acknowledged() {
          entry.doubtfulUntil = now() + UNCERTAIN_ACK_MS;
        },
        unacknowledged() {
          if (entries.delete(entry)) expected.add(entry, now());
        },
      };
    },
    lost(session: S): void {
      const entries = recent.get(session) ?? new Set();
      const lostAt = now();
      for (const entry of entries) {
        if (entry.doubtfulUntil === null || entry.doubtfulUntil >= lostAt) expected.add(entry, lostAt);
      }
      // Replies still being stored are expected already: `unacknowledged` must not add them again.
      entries.clear();
      recent.delete(session);
    },
  };
}

// Entries are nearly in the order of their acknowledgements, so stopping at the first doubtful one keeps the cost per reply constant. Those
// behind it are judged by their own time until they are removed.
function pruneAcknowledged(entries: Set<Entry>, now: number): void {
  for (const entry of entries) {
    if (entry.doubtfulUntil === null || entry.doubtfulUntil >= now) return;
    entries.delete(entry);
  }
}

function createExpected() {
  const byDigest = new Map<string, { reference: string; until: number }[]>();
  return {
    add({ digest, reference }: Entry, now: number): void {
      const same = byDigest.get(digest) ?? [];
      same.push({ reference, until: now + REDELIVERY_WINDOW_MS });
      byDigest.set(digest, same);
      const [oldest] = byDigest.keys();
      if (byDigest.size > MOST_REMEMBERED && oldest !== undefined) byDigest.delete(oldest);
    },
    /** Removes the oldest one with this digest and returns its reference. */
    take(digest: string, now: number): string | undefined {
      const [first, ...others] = (byDigest.get(digest) ?? []).filter(({ until }) => until >= now);
      if (others.length === 0) byDigest.delete(digest);
      else byDigest.set(digest, others);
      return first?.reference;
    },
  };
}

function digestOf({ from, to, encoding, content }: IncomingReply): string {
  const hash = createHash('sha256').update(JSON.stringify([from, to, encoding]));
  return hash.update(content).digest('hex');
}

const REPORTS_A_BATCH = 200;
const REPLIES_A_BATCH = 50;
const PARTS_A_BATCH = 20;

export interface Inbox {
  /** Stores, then acknowledges; answers with `temporary` when storing failed. */
  take(session: Session, pdu: DeliverPdu | null, respond: (status: number) => boolean): void;
  lost(session: Session): void;
}

/** `onError` gets storage failures (the SMSC redelivers), and unreadable messages: acknowledged, or they would be redelivered forever. */
export function createInbox(
  settings: SmppSettings,
  handlers: ProviderHandlers,
  onError: (error: unknown) => void,
): Inbox {
  // Messages of one socket read are stored together; one that fails must not fail the others.
  const gathering = { begin: setImmediate, splitAfterFailure: true };
  const storeReport = createBatcher((reports: DeliveryReport[]) => handlers.onReports(reports), {
    ...gathering,
    most: REPORTS_A_BATCH,
  });
  const storeReply = createBatcher((replies: NetworkReply[]) => handlers.onReplies(replies), {
    ...gathering,
    most: REPLIES_A_BATCH,
  });
  // Parts are stored one by one: one that fails must not keep the others from being acknowledged.
  const parts = createSemaphore({ places: PARTS_A_BATCH });
  const redeliveries = createRedeliveries<Session>();

  const acknowledge = async (
    stored: Promise<void>,
    respond: (status: number) => boolean,
  ): Promise<boolean> => {
    try {
      await stored;
    } catch (error) {
      onError(error);
      respond(STATUS.temporary);
      return false;
    }
    return respond(STATUS.ok);
  };

  const takeReply = async (
    session: Session,
    { reply, text, receipt }: Extract<Incoming, { kind: 'reply' }>,
    respond: (status: number) => boolean,
  ) => {
    const handed = redeliveries.handedOver(session, reply);
    const stored = storeReply({
      providerReference: handed.providerReference,
      from: reply.from,
      to: reply.to,
      text: storable(text),
      receipt,
    });
    if (await acknowledge(stored, respond)) handed.acknowledged();
    else handed.unacknowledged();
  };

  const storePart = (part: ReplyPart): Promise<void> =>
    parts.run(undefined, () => handlers.onReplyPart(part));

  const unreadable = (reason: string, respond: (status: number) => boolean): void => {
    onError(new Error(`a deliver_sm could not be read: ${reason}`));
    respond(STATUS.ok);
  };

  const read = (pdu: DeliverPdu): Incoming => {
    try {
      return readDeliver(pdu, settings);
    } catch (error) {
      // No input may end the process, not even through a bug of ours.
      return { kind: 'unreadable', reason: error instanceof Error ? error.name : 'unknown' };
    }
  };

  return {
    take(session, pdu, respond) {
      if (pdu === null) return unreadable('its fields run beyond it', respond);
      const incoming = read(pdu);
      switch (incoming.kind) {
        case 'report':
          return void acknowledge(storeReport(incoming.report), respond);
        case 'reply':
          return void takeReply(session, incoming, respond);
        case 'part':
          return void acknowledge(storePart(incoming.part), respond);
        case 'unreadable':
          return unreadable(incoming.reason, respond);
      }
    },
    lost: (session) => redeliveries.lost(session),
  };
}
