import type { MessageStatus } from './statuses.ts';
import type { DeliveryReport } from './submission.ts';

export interface NetworkReply {
  /** The provider's id, the same when it is delivered again. */
  providerReference: string;
  /** The phone that sent it, in the provider's format. */
  from: string;
  /** The receiving number; null when the provider does not say. */
  to: string | null;
  text: string;
  /** What it reports if it is a receipt that the SMSC did not mark as one: text that a phone could send, too. */
  receipt?: DeliveryReport | null;
}

/** What the SMSC claims: GSM-7 with one septet per byte, UCS-2 big-endian, ISO 8859-1, or no text. */
export type ByteEncoding = 'gsm7' | 'ucs2' | 'latin1' | 'binary';

/** One part of a concatenated reply, in any order. Bytes, because a character may span two parts. */
export interface ReplyPart {
  /** The SMSC's concatenation reference: unique per sender, receiver and total for some minutes. */
  reference: string;
  /** From 1 to `total`. */
  number: number;
  total: number;
  from: string;
  to: string | null;
  encoding: ByteEncoding;
  content: Uint8Array;
}

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

/** A reply in API responses and webhooks (v2.3.0, InboundMessage). */
export type InboundRecord = ReturnType<typeof inboundRecord>;

/** Presents a stored reply (v2.3.0, InboundMessage). */
export function inboundRecord(row: InboundRow) {
  return {
    id: row.id,
    from: row.sender,
    to: row.receiver,
    text: row.text,
    reply_to: row.replyTo,
    matched_by: row.matchedBy,
    received_at: row.receivedAt.toISOString(),
    read_at: row.readAt?.toISOString() ?? null,
  };
}

/** State of one part by a delivery report, named as in SMPP's message_state. */
export type ReportState =
  'enroute' | 'accepted' | 'delivered' | 'undelivered' | 'expired' | 'rejected' | 'deleted' | 'unknown';

export type Outcome = Extract<MessageStatus, 'delivered' | 'undelivered' | 'expired' | 'failed'>;

// Null for intermediate states.
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

/** States of reports that a message did not arrive. */
export const FAILED_REPORT_STATES: readonly string[] = Object.entries(OUTCOME_OF)
  .filter(([, outcome]) => outcome !== null && outcome !== 'delivered')
  .map(([state]) => state);

const WORST_FIRST: readonly Outcome[] = ['failed', 'undelivered', 'expired', 'delivered'];

/** Null for intermediate states, which are not part of the API, and unknown ones. */
export function outcomeOf(state: string): Outcome | null {
  return OUTCOME_OF[state as ReportState] ?? null;
}

export function isFinalReport(state: ReportState): boolean {
  return OUTCOME_OF[state] !== null;
}

/** A part's state after another report. The first final state stays, so repeated and late reports change nothing. */
export function mergeReport(previous: ReportState | null, next: ReportState): ReportState {
  return previous !== null && isFinalReport(previous) ? previous : next;
}

/** Outcome by the states of all parts: delivered, or the worst of failed, undelivered, expired. Null while a part is open, and for none. */
export function outcomeOfParts(states: readonly (ReportState | null)[]): Outcome | null {
  const outcomes = states.map((state) => (state === null ? null : OUTCOME_OF[state]));
  if (outcomes.includes(null)) return null;
  return WORST_FIRST.find((outcome) => outcomes.includes(outcome)) ?? null;
}
