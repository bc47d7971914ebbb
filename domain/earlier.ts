import { isFinal, type MessageStatus } from './statuses.ts';
import type { Channel } from './channelDeclaration.ts';

/** Greatest length of a caller's identifier; the document has none for messages (v1.2.0, POST /v1/sms), so as of `reference`. */
export const IDX_MAX = 255;

/** How far ahead a message may be scheduled (v1.2.0, Limits). */
export const EARLIER_SEND_AT_HORIZON_MS = 60 * 24 * 3_600_000;

/** The statuses of the earlier interface (v1.2.0, States and transitions). */
export const EARLIER_STATUSES = [
  'queued',
  'sent',
  'delivered',
  'not_found',
  'expired',
  'failed',
  'accepted',
  'unknown',
  'rejected',
  'undelivered',
] as const;

export type EarlierStatus = (typeof EARLIER_STATUSES)[number];

/** What a status is called there. It knows no scheduled messages, and no cancelled ones: those have ended without being sent. */
export const EARLIER_STATUS_OF: Readonly<Record<MessageStatus, EarlierStatus>> = {
  scheduled: 'queued',
  queued: 'queued',
  sent: 'sent',
  delivered: 'delivered',
  undelivered: 'undelivered',
  failed: 'failed',
  rejected: 'rejected',
  expired: 'expired',
  cancelled: 'failed',
};

/** Where a message stands, as far as that says whether it ever left for the provider. */
interface Whereabouts {
  status: MessageStatus;
  errorCode: string | null;
  /** `waiting` where no provider was given anything of it. */
  submission: string;
}

/** What is shown of a message's status (v1.2.0, MessageLog). */
interface ShownStatus {
  /** As what it left for the provider, or ended without leaving. */
  status: EarlierStatus;
  /** What came of it after that; also where no report came in time. */
  dlrStatus: EarlierStatus | null;
}

const left = (dlrStatus: EarlierStatus | null): ShownStatus => ({ status: 'sent', dlrStatus });
const stayed = (status: EarlierStatus): ShownStatus => ({ status, dlrStatus: null });

/** What the history tells apart: each status, with two that a message may come to before it has left and after. */
const SHOWN = {
  queued: stayed('queued'),
  sent: left(null),
  delivered: left('delivered'),
  undelivered: left('undelivered'),
  failed: left('failed'),
  expired: left('expired'),
  failed_unsent: stayed('failed'),
  expired_unsent: stayed('expired'),
  rejected: stayed(EARLIER_STATUS_OF.rejected),
  cancelled: stayed(EARLIER_STATUS_OF.cancelled),
} as const satisfies Record<string, ShownStatus>;

/** One of these; the index of the history says the same in SQL (`history_class`). */
export type HistoryClass = keyof typeof SHOWN;

/** All of them. */
const HISTORY_CLASSES = Object.keys(SHOWN) as HistoryClass[];

/**
 * Where a message belongs. A provider refused it, or it was given up: then it has not left; a delivery report says that it was
 * refused: then it has. What may have left, has.
 */
export function historyClassOf({ status, errorCode, submission }: Whereabouts): HistoryClass {
  if (status === 'scheduled') return 'queued';
  if (status === 'failed' && errorCode !== 'rejected_on_report') return 'failed_unsent';
  if (status === 'expired' && submission === 'waiting') return 'expired_unsent';
  return status;
}

/** What is shown of a message. */
export function shownStatus(row: Whereabouts): ShownStatus {
  return SHOWN[historyClassOf(row)];
}

/** Whether a message has left for the provider, or may have. */
export function hasLeft(row: Whereabouts): boolean {
  return shownStatus(row).status === 'sent';
}

/** Where those are that show a status, as the one they left with or as the one that came of that; null: all. */
export function classesShowing(status: EarlierStatus | null): HistoryClass[] {
  if (status === null) return HISTORY_CLASSES;
  return HISTORY_CLASSES.filter((one) => SHOWN[one].status === status || SHOWN[one].dlrStatus === status);
}

/**
 * A place in the history of the earlier interface (v1.2.0, GET /v1/messages): a Unix second, and a number that no other
 * message of that second has, in one integer. It is below 2^53 until the year 2255.
 */
export type SentKey = number;

const NUMBERS_IN_A_SECOND = 1_000_000;
// A cursor from here on is a place, below it a second; neither reaches the other in the next 30,000 years.
const FIRST_PLACE = 10 ** 12;
const LAST_SECOND = Math.floor(Number.MAX_SAFE_INTEGER / NUMBERS_IN_A_SECOND);

/** The Unix second of a place. */
export function secondOf(sentKey: SentKey): number {
  return Math.floor(sentKey / NUMBERS_IN_A_SECOND);
}

/** When a message of this place was taken up for sending: to the second, as the history is ordered. */
export function sentAtOf(sentKey: SentKey): string {
  return new Date(secondOf(sentKey) * 1000).toISOString();
}

/** The stretch of places that a page is taken from. */
export interface PageRange {
  /** The first one that belongs to it. */
  from: SentKey;
  /** The first one that does not. */
  before: SentKey;
}

/** What of the history is asked for; null means anything. */
interface HistoryQuestion {
  /** A Unix second, which the records are before; or the place that an earlier page named. */
  cursor: number | null;
  /** Epoch milliseconds; that very moment is taken in, at both ends. */
  from: number | null;
  to: number | null;
}

/** The places that a question is about. */
export function pageRangeOf({ cursor, from, to }: HistoryQuestion): PageRange {
  return {
    from: from === null ? 0 : placeOf(Math.ceil(from / 1000)),
    before: Math.min(
      cursor === null ? Number.MAX_SAFE_INTEGER : cursor >= FIRST_PLACE ? cursor : placeOf(cursor),
      to === null ? Number.MAX_SAFE_INTEGER : placeOf(Math.floor(to / 1000) + 1),
    ),
  };
}

// The first one of a second; of one that no place can have, the nearest.
function placeOf(second: number): SentKey {
  return Math.min(Math.max(second, 0), LAST_SECOND) * NUMBERS_IN_A_SECOND;
}

/** A page and where the next one begins; null: it is the last. */
interface HistoryPage<Row> {
  page: Row[];
  nextCursor: number | null;
}

/**
 * A page of what was found, newest first, where one more than its size was asked for. It ends with a second, so that its cursor is
 * one; a second with more records than fit on a page is cut, and the cursor is the place of the last one shown. Walking on loses and
 * repeats nothing that was there when the walk began. A place is given before its transaction ends, so that a record may appear some
 * seconds after its own, behind others of later places.
 */
export function pageOfHistory<Row extends { sentKey: SentKey }>(
  found: readonly Row[],
  size: number,
): HistoryPage<Row> {
  const next = found[size];
  const page = found.slice(0, size);
  const last = page.at(-1);
  if (next === undefined || last === undefined) return { page, nextCursor: null };
  const cut = secondOf(next.sentKey);
  const whole = page.filter(({ sentKey }) => secondOf(sentKey) > cut);
  return whole.length > 0 ? { page: whole, nextCursor: cut + 1 } : { page, nextCursor: last.sentKey };
}

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
interface DeliveryReportEvent {
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
interface IncomingSmsEvent {
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
interface MessageLog {
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
