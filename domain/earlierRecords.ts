import { EARLIER_STATUS_OF, type EarlierStatus } from './earlierInterface.ts';
import { isFinal, type MessageStatus } from './statuses.ts';

/** Where a message stands, as far as that says whether it ever left for the provider. */
export interface Whereabouts {
  status: MessageStatus;
  errorCode: string | null;
  /** `waiting` where no provider was given anything of it. */
  submission: string;
}

/**
 * Whether a message has left for the provider, or may have. One that a provider refused, or that was given up, has not; one
 * that a delivery report says was refused, has.
 */
export function hasLeft({ status, errorCode, submission }: Whereabouts): boolean {
  if (status === 'failed') return errorCode === 'rejected_on_report';
  if (status === 'expired') return submission !== 'waiting';
  return status === 'sent' || status === 'delivered' || status === 'undelivered';
}

/** A place in the history of the earlier interface: a second and a number in it, see {@link secondOf}. */
const NUMBERS_IN_A_SECOND = 1_000_000;

/** The Unix second of a place in the history. */
export function secondOf(sentKey: number): number {
  return Math.floor(sentKey / NUMBERS_IN_A_SECOND);
}

/** When a message of this place was taken up for sending, to the second, as the history is ordered. */
export function sentAtOf(sentKey: number): string {
  return new Date(secondOf(sentKey) * 1000).toISOString();
}

/** What is shown of a message at a change of its status. */
export interface ReportedRow extends Whereabouts {
  id: string;
  /** MSISDN in E.164 with plus. */
  recipient: string;
  idx: string | null;
  sentKey: number | null;
  /** When it got the status. */
  updatedAt: Date;
}

/** The body of a `delivery_report` (v1.2.0, Events). */
export interface DeliveryReportEvent {
  event: 'delivery_report';
  message_id: string;
  to: string;
  status: EarlierStatus;
  sent_at: string | null;
  done_at: string | null;
  idx: string | null;
}

/** Presents a change of status (v1.2.0, Events): `sent_at` of what has left, `done_at` of what is at its end. */
export function deliveryReportEvent(row: ReportedRow): DeliveryReportEvent {
  return {
    event: 'delivery_report',
    message_id: row.id,
    to: row.recipient,
    status: EARLIER_STATUS_OF[row.status],
    sent_at: row.sentKey !== null && hasLeft(row) ? sentAtOf(row.sentKey) : null,
    done_at: isFinal(row.status) ? row.updatedAt.toISOString() : null,
    idx: row.idx,
  };
}

/** What is shown of a reply. */
export interface IncomingRow {
  id: string;
  sender: string;
  /** The number it came to; null where nobody says. */
  receiver: string | null;
  text: string;
  receivedAt: Date;
}

/** The body of an `incoming_sms` (v1.2.0, Events). */
export interface IncomingSmsEvent {
  event: 'incoming_sms';
  message_id: string;
  from: string;
  to: string;
  message: string;
  received_at: string;
}

/** Presents a reply (v1.2.0, Events). @param inboundNumber the two-way number of its account */
export function incomingSmsEvent(row: IncomingRow, inboundNumber: string | null): IncomingSmsEvent {
  return {
    event: 'incoming_sms',
    message_id: row.id,
    from: row.sender,
    to: row.receiver ?? inboundNumber ?? '',
    message: row.text,
    received_at: row.receivedAt.toISOString(),
  };
}
