const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** A scheduled message can be cancelled until this long before its send time (v2.3.0, Limits). */
export const CANCEL_LEAD_MS = 30 * SECOND_MS;

/** Delivery attempts end this long after the send time unless the request says otherwise. */
export const DEFAULT_EXPIRY_MS = 72 * HOUR_MS;

/** The earliest and latest `expires_at`, counted from the send time (v2.3.0, Limits). */
export const EXPIRES_MIN_MS = 15 * MINUTE_MS;
export const EXPIRES_MAX_MS = 72 * HOUR_MS;

/** How far ahead `send_at` may lie (v2.3.0, Limits). */
export const SEND_AT_HORIZON_MS = 90 * DAY_MS;

/** Every status a message shows to the outside (v2.3.0, States and transitions). */
export const MESSAGE_STATUSES = [
  'scheduled',
  'queued',
  'sent',
  'delivered',
  'undelivered',
  'failed',
  'rejected',
  'expired',
  'cancelled',
] as const;

export type MessageStatus = (typeof MESSAGE_STATUSES)[number];

/** Where a message can go from each status; nothing leads out of an empty list. */
const MOVES: Readonly<Record<MessageStatus, readonly MessageStatus[]>> = {
  // Expired or cancelled without a submit: with an account that was suspended too long, or closed.
  scheduled: ['queued', 'cancelled', 'expired'],
  queued: ['sent', 'failed', 'rejected', 'expired', 'cancelled'],
  sent: ['delivered', 'undelivered', 'failed', 'expired'],
  delivered: [],
  undelivered: [],
  failed: [],
  rejected: [],
  expired: [],
  cancelled: [],
};

/** The statuses that a message never leaves. */
export const FINAL_STATUSES: readonly MessageStatus[] = MESSAGE_STATUSES.filter(
  (status) => MOVES[status].length === 0,
);

/** Whether a message may go from one status to the other; staying where it is counts as no move. */
export function mayMove(from: MessageStatus, to: MessageStatus): boolean {
  return MOVES[from].includes(to);
}
