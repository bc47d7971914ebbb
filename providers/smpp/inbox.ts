import { createHash, randomUUID } from 'node:crypto';
import { type ByteEncoding, type NetworkReply, type ReplyPart, storable } from '../../domain/incoming.ts';
import type { DeliveryReport } from '../../domain/submission.ts';
import { encodingOf, isText, phoneOf } from './content.ts';
import type { DeliverPdu } from './wire.ts';
import { isReceipt, readReceipt } from './receipts.ts';
import type { SmppSettings } from './settings.ts';
import { type Concatenation, concatenation, readUserData, STATUS, type UserData } from './codec.ts';
import { gather } from '../../concurrency/gather.ts';
import { createSemaphore } from '../../concurrency/semaphore.ts';
import type { ProviderHandlers } from '../provider.ts';
import { decodeText } from '../../domain/sms.ts';
import type { Session } from './session.ts';

/** A reply that is not decoded yet. */
export interface IncomingReply {
  from: string;
  to: string | null;
  encoding: ByteEncoding;
  content: Buffer;
}

/** What an SMSC delivered. */
type Incoming =
  | { kind: 'report'; report: DeliveryReport }
  | { kind: 'reply'; reply: IncomingReply }
  | { kind: 'part'; part: ReplyPart }
  /** `reason` is for staff, without content. */
  | { kind: 'unreadable'; reason: string };

const USER_DATA_HEADER = 0x40; // esm_class, 5.2.12
// An SMS has at most 140 octets, which are 160 septets unpacked. What is longer is no part, whatever it says.
const LONGEST_PART = 160;
// Longer ones are no addresses (SMPP 3.4, 5.2.8: 20 characters), and too long for an index.
const LONGEST_ADDRESS = 64;

/**
 * Reads a deliver_sm: a delivery receipt, a reply, or one part of a reply. Takes anything, never throws. A text longer
 * than an SMS that calls itself a part is taken for a whole reply.
 */
export function readDeliver(
  pdu: DeliverPdu,
  settings: Pick<SmppSettings, 'ids' | 'defaultAlphabet'>,
): Incoming {
  const { content, concatenation: headed } = userData(pdu);
  if (isReceipt(pdu)) {
    const report = readReceipt(pdu, content, settings.ids);
    return report === null
      ? { kind: 'unreadable', reason: 'a receipt without message id and state' }
      : { kind: 'report', report };
  }
  const encoding = encodingOf(pdu.data_coding, settings.defaultAlphabet);
  if (encoding === null || (encoding === 'binary' && !isText(content))) {
    return { kind: 'unreadable', reason: `no text, data_coding ${pdu.data_coding}` };
  }
  if (content.length === 0 && pdu.brokenTlv !== null) {
    return { kind: 'unreadable', reason: 'no text before a broken TLV' };
  }
  const reply: IncomingReply = {
    from: addressOf(pdu.source_addr_ton, pdu.source_addr),
    to: pdu.destination_addr === '' ? null : addressOf(pdu.dest_addr_ton, pdu.destination_addr),
    encoding: encoding === 'binary' ? 'latin1' : encoding,
    content,
  };
  const one = headed ?? sarOf(pdu);
  if (one === null || one.total === 1 || content.length > LONGEST_PART) return { kind: 'reply', reply };
  return { kind: 'part', part: { ...reply, ...one } };
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

/** A number as MSISDN in E.164 with plus; what is none, such as a short code or a name, as it came. */
function addressOf(ton: number, address: string): string {
  return phoneOf(ton, address) ?? storable(address.trim().slice(0, LONGEST_ADDRESS));
}

/** The SMSC may have missed an acknowledgement this old when the connection breaks. */
const DOUBTFUL_MS = 30_000;
/** So long after a lost connection the SMSC may hand over again what it got no acknowledgement of. */
const REMEMBERED_MS = 600_000;
const MOST_REMEMBERED = 10_000;

/** One reply as one session handed it over. */
export interface HandedOver {
  /** The same for a reply that is handed over again, another one for the same words sent again. */
  readonly providerReference: string;
  /** The SMSC got our answer that we have it. */
  acknowledged(): void;
  /** The SMSC got no answer, or that it was not stored: it will hand it over again. */
  unacknowledged(): void;
}

interface Entry {
  digest: string;
  reference: string;
  /** Until then a lost connection may have swallowed the acknowledgement; null: not sent yet. */
  doubtfulUntil: number | null;
}

/**
 * Tells a reply that is handed over again from the same words sent again by a person: SMPP gives a deliver_sm no id. What
 * a session acknowledged in its last 30 seconds, or not at all, is taken for the same once, when it comes again within
 * ten minutes by any session that shares these. Lives in the memory of one process: after a crash, or where the SMSC hands
 * it over to a session of another worker, such a reply is stored twice.
 */
export function createRedeliveries<S extends object>(now: () => number = Date.now) {
  const recent = new WeakMap<S, Set<Entry>>();
  const expected = createExpected();

  return {
    /** A reply came by a session. */
    handedOver(session: S, reply: IncomingReply): HandedOver {
      const digest = digestOf(reply);
      const entry: Entry = {
        digest,
        reference: expected.take(digest, now()) ?? `${digest.slice(0, 32)}-${randomUUID()}`,
        doubtfulUntil: null,
      };
      const entries = recent.get(session) ?? new Set();
      recent.set(session, entries);
      forgetCertain(entries, now());
      entries.add(entry);
      return {
        providerReference: entry.reference,
        acknowledged() {
          entry.doubtfulUntil = now() + DOUBTFUL_MS;
        },
        unacknowledged() {
          if (entries.delete(entry)) expected.add(entry, now());
        },
      };
    },
    /** A session's connection broke. */
    lost(session: S): void {
      const entries = recent.get(session) ?? new Set();
      const lostAt = now();
      for (const entry of entries) {
        if (entry.doubtfulUntil === null || entry.doubtfulUntil >= lostAt) expected.add(entry, lostAt);
      }
      // What is still being stored is expected already: `unacknowledged` must not expect it once more.
      entries.clear();
      recent.delete(session);
    },
  };
}

// They stand nearly in the order of their acknowledgements: whatever is behind one that is in doubt has its turn later, and
// counts by its own time until then. So a reply costs the same however many came in the last 30 seconds.
function forgetCertain(entries: Set<Entry>, now: number): void {
  for (const entry of entries) {
    if (entry.doubtfulUntil === null || entry.doubtfulUntil >= now) return;
    entries.delete(entry);
  }
}

/** What may be handed over again, by its words, oldest first. */
function createExpected() {
  const byDigest = new Map<string, { reference: string; until: number }[]>();
  return {
    add({ digest, reference }: Entry, now: number): void {
      const same = byDigest.get(digest) ?? [];
      same.push({ reference, until: now + REMEMBERED_MS });
      byDigest.set(digest, same);
      const [oldest] = byDigest.keys();
      if (byDigest.size > MOST_REMEMBERED && oldest !== undefined) byDigest.delete(oldest);
    },
    /** @returns the reference of the oldest one with these words, which is expected no more */
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

/** Where all sessions of a route put what the SMSC delivers. */
export interface Inbox {
  /** Stores it, and only then acknowledges it; says `temporary` when it could not be stored. */
  take(session: Session, pdu: DeliverPdu | null, respond: (status: number) => boolean): void;
  /** The session's connection broke. */
  lost(session: Session): void;
}

/**
 * @param onError gets what could not be stored, which the SMSC will hand over again, and, without its content, what
 *   could not be read: that is acknowledged, or it would come for ever
 */
export function createInbox(
  settings: SmppSettings,
  handlers: ProviderHandlers,
  onError: (error: unknown) => void,
): Inbox {
  // What came in the same piece of the stream goes together; one that cannot be stored must not take the others with it.
  const gathering = { begin: setImmediate, splitAfterFailure: true };
  const storeReport = gather((reports: DeliveryReport[]) => handlers.onReports(reports), {
    ...{ ...gathering, most: REPORTS_A_BATCH },
  });
  const storeReply = gather((replies: NetworkReply[]) => handlers.onReplies(replies), {
    ...{ ...gathering, most: REPLIES_A_BATCH },
  });
  // Each for itself: one that fails must not take the others' acknowledgement with it.
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

  const takeReply = async (session: Session, reply: IncomingReply, respond: (status: number) => boolean) => {
    const handed = redeliveries.handedOver(session, reply);
    const stored = storeReply({
      providerReference: handed.providerReference,
      from: reply.from,
      to: reply.to,
      text: storable(decodeText(reply.encoding, reply.content)),
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
      // Nothing that an SMSC sends may end the process, not even by our own mistake.
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
          return void takeReply(session, incoming.reply, respond);
        case 'part':
          return void acknowledge(storePart(incoming.part), respond);
        case 'unreadable':
          return unreadable(incoming.reason, respond);
      }
    },
    lost: (session) => redeliveries.lost(session),
  };
}
