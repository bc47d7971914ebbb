import { storable } from '../../domain/inbound.ts';
import type { ByteEncoding, ReplyPart } from '../../domain/inbound.ts';
import type { DeliveryReport } from '../../domain/submission.ts';
import { phoneOf } from './addresses.ts';
import { encodingOf, isText } from './dataCoding.ts';
import type { DeliverPdu } from './pdus.ts';
import { isReceipt, readReceipt } from './receipts.ts';
import type { SmppSettings } from './settings.ts';
import { type Concatenation, concatenation, readUserData, type UserData } from './udh.ts';

/** A reply that is not decoded yet. */
export interface IncomingReply {
  from: string;
  to: string | null;
  encoding: ByteEncoding;
  content: Buffer;
}

/** What an SMSC delivered. */
export type Incoming =
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
