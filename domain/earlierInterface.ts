import type { MessageStatus } from './statuses.ts';

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
