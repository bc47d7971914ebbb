import type { MessageStatus } from './statuses.ts';

/** A reply as a provider hands it over. */
export interface NetworkReply {
  /** The provider's own id of it: handed over twice, it is the same. */
  providerReference: string;
  /** The phone that sent it, as the provider writes numbers. */
  from: string;
  /** The number it was sent to; null when the provider does not say. */
  to: string | null;
  text: string;
}

/** How the bytes of an SMS are to be read: GSM-7 one septet per byte, UCS-2 big-endian, ISO 8859-1. */
export type ByteEncoding = 'gsm7' | 'ucs2' | 'latin1';

/** One part of a reply that comes in several, in any order. Bytes, because a character may lie across two of them. */
export interface ReplyPart {
  /** As the SMSC numbers what belongs together: unique per sender, receiver and total for some minutes. */
  reference: string;
  /** From 1 to `total`. */
  number: number;
  total: number;
  from: string;
  to: string | null;
  encoding: ByteEncoding;
  content: Uint8Array;
}

/** What is stored of a reply that was matched to an account, and shown of it. */
export interface InboundRow {
  id: string;
  /** MSISDN in E.164 with plus. */
  sender: string;
  receiver: string | null;
  /** Without the keyword. */
  text: string;
  replyTo: string | null;
  matchedBy: 'prefix' | 'last_message';
  receivedAt: Date;
  readAt: Date | null;
}

/** A reply as the interface shows it: in answers and in webhooks (v2.3.0, InboundMessage). */
export interface InboundRecord {
  id: string;
  from: string;
  to: string | null;
  text: string;
  reply_to: string | null;
  matched_by: 'prefix' | 'last_message';
  received_at: string;
  read_at: string | null;
}

/** Presents a stored reply (v2.3.0, InboundMessage): the table's fields in its order, instants as ISO 8601 in UTC. */
export function inboundRecord(row: InboundRow): InboundRecord {
  return {
    id: row.id,
    from: row.sender,
    to: row.receiver,
    text: row.text,
    reply_to: row.replyTo,
    matched_by: row.matchedBy,
    received_at: row.receivedAt.toISOString(),
    read_at: row.readAt === null ? null : row.readAt.toISOString(),
  };
}

/** Third-party text as it can be stored: what PostgreSQL and JSON cannot hold (NUL, lone surrogates) becomes U+FFFD. */
export function storable(text: string): string {
  return text.replace(/[\0\p{Surrogate}]/gu, '\uFFFD');
}

/** What a delivery report says of one part, in the words of SMPP's message_state. */
export type ReportState =
  'enroute' | 'accepted' | 'delivered' | 'undelivered' | 'expired' | 'rejected' | 'deleted' | 'unknown';

/** How the reports of all parts end a message. */
export type Outcome = Extract<MessageStatus, 'delivered' | 'undelivered' | 'expired' | 'failed'>;

/** The outcome a part's final state calls for; null while the state is intermediate. */
const OUTCOME_OF: Readonly<Record<ReportState, Outcome | null>> = {
  enroute: null,
  accepted: null,
  unknown: null,
  delivered: 'delivered',
  undelivered: 'undelivered',
  deleted: 'undelivered',
  expired: 'expired',
  rejected: 'failed',
};

const WORST_FIRST: readonly Outcome[] = ['failed', 'undelivered', 'expired', 'delivered'];

/** Whether a state is a part's last: enroute, accepted and unknown are on the way to another. */
export function isFinalReport(state: ReportState): boolean {
  return OUTCOME_OF[state] !== null;
}

/**
 * A part's state after one more report. The first final state stands whatever comes after it, so
 * repeated reports and reports out of order change nothing.
 *
 * @param previous the state so far, null before the first report
 */
export function mergeReport(previous: ReportState | null, next: ReportState): ReportState {
  return previous !== null && isFinalReport(previous) ? previous : next;
}

/**
 * The outcome of a whole message from the states of its parts (null: no report yet). It is known once
 * every part has a final state: delivered when all are, else the worst: failed before undelivered before
 * expired.
 *
 * @returns null while a part is open, and for no parts
 */
export function outcomeOfParts(states: readonly (ReportState | null)[]): Outcome | null {
  const outcomes = states.map((state) => (state === null ? null : OUTCOME_OF[state]));
  if (outcomes.includes(null)) return null;
  return WORST_FIRST.find((outcome) => outcomes.includes(outcome)) ?? null;
}
