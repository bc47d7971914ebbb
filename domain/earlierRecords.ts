import { EARLIER_STATUS_OF, type EarlierStatus } from './earlierInterface.ts';
import type { Channel } from './channelNames.ts';
import { sentAtOf, type SentKey } from './earlierHistory.ts';
import { hasLeft, shownStatus, type Whereabouts } from './earlierStatus.ts';
import { isFinal } from './statuses.ts';

/** What is shown of a message at a change of its status. */
export interface ReportedRow extends Whereabouts {
  id: string;
  /** MSISDN in E.164 with plus. */
  recipient: string;
  idx: string | null;
  sentKey: SentKey | null;
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

/** What is shown of a message in the history. */
export interface LoggedRow extends Whereabouts {
  id: string;
  /** The provider's id of its first part; null where that has none yet. */
  providerMessageId: string | null;
  channel: Channel;
  sender: string | null;
  recipient: string;
  /** The beginning of the text; empty where it was erased, or has none. */
  preview: string;
  parts: number;
  costGrosze: number;
  idx: string | null;
  sentKey: SentKey;
  deliveredAt: Date | null;
  updatedAt: Date;
}

/** One message of the history (v1.2.0, MessageLog). */
export interface MessageLog {
  id: string;
  smsapi_id: string | null;
  type: Channel;
  sender: string | null;
  recipient: string;
  message_preview: string | null;
  parts: number;
  cost_grosze: number;
  cost_pln: number;
  status: EarlierStatus;
  dlr_status: EarlierStatus | null;
  dlr_updated_at: string | null;
  idx: string | null;
  sent_at: string;
}

/** Presents a message of the history (v1.2.0, MessageLog). */
export function messageLog(row: LoggedRow): MessageLog {
  const { status, dlrStatus } = shownStatus(row);
  return {
    id: row.id,
    smsapi_id: row.providerMessageId,
    type: row.channel,
    sender: row.sender,
    recipient: row.recipient,
    message_preview: row.preview === '' ? null : row.preview,
    parts: row.parts,
    cost_grosze: row.costGrosze,
    cost_pln: row.costGrosze / 100,
    status,
    dlr_status: dlrStatus,
    dlr_updated_at: dlrStatus === null ? null : (row.deliveredAt ?? row.updatedAt).toISOString(),
    idx: row.idx,
    sent_at: sentAtOf(row.sentKey),
  };
}
