import { isFinal, type MessageStatus } from './statuses.ts';
import type { Channel } from './channelDeclaration.ts';

/** Characters of a caller's identifier, as of `reference`: v1.2.0, POST /v1/sms, sets no limit for messages. */
export const IDX_MAX = 255;

/** v1.2.0, Limits. */
export const EARLIER_SEND_AT_HORIZON_MS = 60 * 24 * 3_600_000;

/** v1.2.0, States and transitions. */
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

/** Status in the v1 API. It has neither scheduled nor cancelled messages; a cancelled one ended without being sent. */
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

// What decides whether a message was ever submitted.
interface SubmissionState {
  status: MessageStatus;
  errorCode: string | null;
  /** `waiting` while nothing of it was submitted. */
  submission: string;
}

// A message's status in the v1 API (v1.2.0, MessageLog).
interface ShownStatus {
  /** `sent` once submitted, else how it stands or ended. */
  status: EarlierStatus;
  /** The outcome after that, also where no report came in time. */
  dlrStatus: EarlierStatus | null;
}

const submitted = (dlrStatus: EarlierStatus | null): ShownStatus => ({ status: 'sent', dlrStatus });
const unsubmitted = (status: EarlierStatus): ShownStatus => ({ status, dlrStatus: null });

// The statuses, with `failed` and `expired` split by whether the message was submitted.
const SHOWN = {
  queued: unsubmitted('queued'),
  sent: submitted(null),
  delivered: submitted('delivered'),
  undelivered: submitted('undelivered'),
  failed: submitted('failed'),
  expired: submitted('expired'),
  failed_unsent: unsubmitted('failed'),
  expired_unsent: unsubmitted('expired'),
  rejected: unsubmitted(EARLIER_STATUS_OF.rejected),
  cancelled: unsubmitted(EARLIER_STATUS_OF.cancelled),
} as const satisfies Record<string, ShownStatus>;

/** The index of the history computes the same in SQL (`history_class`). */
export type HistoryClass = keyof typeof SHOWN;

const HISTORY_CLASSES = Object.keys(SHOWN) as HistoryClass[];

/** A message refused by a provider or given up counts as unsubmitted; one rejected on report, or possibly submitted, as submitted. */
export function historyClassOf({ status, errorCode, submission }: SubmissionState): HistoryClass {
  if (status === 'scheduled') return 'queued';
  if (status === 'failed' && errorCode !== 'rejected_on_report') return 'failed_unsent';
  if (status === 'expired' && submission === 'waiting') return 'expired_unsent';
  return status;
}

export function shownStatus(row: SubmissionState): ShownStatus {
  return SHOWN[historyClassOf(row)];
}

/** Whether a message was submitted, or may have been. */
export function wasSubmitted(row: SubmissionState): boolean {
  return shownStatus(row).status === 'sent';
}

/** The classes that show a status as `status` or `dlrStatus`; null: all. */
export function classesShowing(status: EarlierStatus | null): HistoryClass[] {
  if (status === null) return HISTORY_CLASSES;
  return HISTORY_CLASSES.filter((one) => SHOWN[one].status === status || SHOWN[one].dlrStatus === status);
}

/** Position in the v1 history (GET /v1/messages): Unix second * 1,000,000 + a number unique within it. Below 2^53 until 2255. */
export type SentKey = number;

const NUMBERS_IN_A_SECOND = 1_000_000;
// A cursor from here on is a position, below it a second; they do not meet in the next 30,000 years.
const FIRST_POSITION = 10 ** 12;
const LAST_SECOND = Math.floor(Number.MAX_SAFE_INTEGER / NUMBERS_IN_A_SECOND);

export function secondOf(sentKey: SentKey): number {
  return Math.floor(sentKey / NUMBERS_IN_A_SECOND);
}

/** When sending began for the message at a position, to the second, by which the history is ordered. */
export function sentAtOf(sentKey: SentKey): string {
  return new Date(secondOf(sentKey) * 1000).toISOString();
}

export interface PageRange {
  /** Inclusive. */
  from: SentKey;
  /** Exclusive. */
  before: SentKey;
}

// Filters of the history; null means any.
interface HistoryQuery {
  /** A Unix second, exclusive; or the position from an earlier page. */
  cursor: number | null;
  /** Epoch milliseconds, both inclusive. */
  from: number | null;
  to: number | null;
}

export function pageRangeOf({ cursor, from, to }: HistoryQuery): PageRange {
  return {
    from: from === null ? 0 : positionOf(Math.ceil(from / 1000)),
    before: Math.min(
      cursor === null ? Number.MAX_SAFE_INTEGER : cursor >= FIRST_POSITION ? cursor : positionOf(cursor),
      to === null ? Number.MAX_SAFE_INTEGER : positionOf(Math.floor(to / 1000) + 1),
    ),
  };
}

// The first position of a second, clamped to the valid ones.
function positionOf(second: number): SentKey {
  return Math.min(Math.max(second, 0), LAST_SECOND) * NUMBERS_IN_A_SECOND;
}

/**
 * Cuts a page, newest first, from `size + 1` rows. It ends with a full second, which becomes the cursor, if that leaves at least half of
 * `size`; otherwise it is full, and the cursor is the position of its last row. Paging neither skips nor repeats rows that existed when it began.
 * Positions are assigned before commit, so a row may appear seconds late, behind later positions.
 * @returns `nextCursor` null on the last page
 */
export function pageOfHistory<Row extends { sentKey: SentKey }>(
  found: readonly Row[],
  size: number,
): { page: Row[]; nextCursor: number | null } {
  const next = found[size];
  const page = found.slice(0, size);
  const last = page.at(-1);
  if (next === undefined || last === undefined) return { page, nextCursor: null };
  const cut = secondOf(next.sentKey);
  const whole = page.filter(({ sentKey }) => secondOf(sentKey) > cut);
  return whole.length >= size / 2 ? { page: whole, nextCursor: cut + 1 } : { page, nextCursor: last.sentKey };
}

export interface ReportedRow extends SubmissionState {
  id: string;
  /** MSISDN in E.164 with plus. */
  recipient: string;
  idx: string | null;
  sentKey: SentKey | null;
  updatedAt: Date;
}

/** Presents a status change (v1.2.0, Events): `sent_at` once submitted, `done_at` once final. */
export function deliveryReportEvent(row: ReportedRow) {
  return {
    event: 'delivery_report',
    message_id: row.id,
    to: row.recipient,
    status: EARLIER_STATUS_OF[row.status],
    sent_at: row.sentKey !== null && wasSubmitted(row) ? sentAtOf(row.sentKey) : null,
    done_at: isFinal(row.status) ? row.updatedAt.toISOString() : null,
    idx: row.idx,
  };
}

export interface IncomingRow {
  id: string;
  sender: string;
  /** The receiving number; null where the provider does not say. */
  receiver: string | null;
  text: string;
  receivedAt: Date;
}

/** Presents a reply (v1.2.0, Events). @param inboundNumber the account's two-way number */
export function incomingSmsEvent(row: IncomingRow, inboundNumber: string | null) {
  return {
    event: 'incoming_sms',
    message_id: row.id,
    from: row.sender,
    to: row.receiver ?? inboundNumber ?? '',
    message: row.text,
    received_at: row.receivedAt.toISOString(),
  };
}

export interface LoggedRow extends SubmissionState {
  id: string;
  /** The provider's id of the first part; null while it has none. */
  providerMessageId: string | null;
  channel: Channel;
  sender: string | null;
  recipient: string;
  /** The beginning of the text; empty after erasure, or without text. */
  preview: string;
  parts: number;
  costGrosze: number;
  idx: string | null;
  sentKey: SentKey;
  deliveredAt: Date | null;
  updatedAt: Date;
}

/** Presents a message of the history (v1.2.0, MessageLog). */
export function messageLog(row: LoggedRow) {
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
