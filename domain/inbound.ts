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
