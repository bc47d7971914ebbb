import type { Channel } from './channelDeclaration.ts';

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

/** Every status (v2.3.0, States and transitions). */
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

/** What a message may be as it is accepted; what is on the blacklist is rejected, and costs nothing. */
export const ACCEPTED_STATUSES = [
  'scheduled',
  'queued',
  'rejected',
] as const satisfies readonly MessageStatus[];

export type AcceptedStatus = (typeof ACCEPTED_STATUSES)[number];

/** A way from one status to another. */
export interface Move {
  from: MessageStatus;
  to: MessageStatus;
  /** Whether the cost is given back: `unsubmitted`, where the provider was never given anything of the message. */
  refund: 'always' | 'unsubmitted' | 'never';
}

/** The state machine: every move there is (v2.3.0, States and transitions), and no other, in the database neither. */
export const MOVES = [
  // Its send time has come, or it is cancelled before.
  { from: 'scheduled', to: 'queued', refund: 'never' },
  { from: 'scheduled', to: 'cancelled', refund: 'always' },
  // Its account was suspended until its time was over.
  { from: 'scheduled', to: 'expired', refund: 'unsubmitted' },
  // The provider's answer to its submit.
  { from: 'queued', to: 'sent', refund: 'never' },
  { from: 'queued', to: 'failed', refund: 'always' },
  // Never submitted: opted out since it was accepted, or its account was closed.
  { from: 'queued', to: 'rejected', refund: 'always' },
  { from: 'queued', to: 'cancelled', refund: 'always' },
  { from: 'queued', to: 'expired', refund: 'unsubmitted' },
  // Its delivery reports, or none until its time was over.
  { from: 'sent', to: 'delivered', refund: 'never' },
  { from: 'sent', to: 'undelivered', refund: 'never' },
  { from: 'sent', to: 'failed', refund: 'never' },
  { from: 'sent', to: 'expired', refund: 'never' },
] as const satisfies readonly Move[];

type AnyMove = (typeof MOVES)[number];

/** A status that a message never leaves. */
export type FinalStatus = Exclude<MessageStatus, AnyMove['from']>;

/** All of these. */
export const FINAL_STATUSES: readonly FinalStatus[] = MESSAGE_STATUSES.filter(isFinal);

/** The statuses whose coming notifies the account's webhook, as `message.<status>` (v2.3.0, Events). */
export const NOTIFIED_STATUSES = [
  'sent',
  'delivered',
  'undelivered',
  'failed',
  'expired',
] as const satisfies readonly MessageStatus[];

/** Whether nothing leads out of a status. */
export function isFinal(status: MessageStatus): status is FinalStatus {
  return !MOVES.some(({ from }) => from === status);
}

/** Whether a message may go from one status to the other; staying where it is counts as no move. */
export function mayMove(from: MessageStatus, to: MessageStatus): boolean {
  return MOVES.some((move) => move.from === from && move.to === to);
}

/** What has to be known of a message to start its workflow. */
export interface StartableMessage {
  id: string;
  channel: Channel;
  accountId: string;
  requestId: string;
  /** One of several recipients of its request. */
  batched: boolean;
  route: string;
  /** When to submit, epoch milliseconds; null means at once. */
  sendAt: number | null;
  /** When the wait for a delivery report ends, epoch milliseconds. */
  giveUpAt: number;
  priority: boolean;
}

/** Why a message failed or was rejected; stored with the message, turned into words only when it is shown. */
const ERROR_CODES = [
  'network_refused',
  'invalid_destination',
  'invalid_sender',
  'invalid_content',
  'not_permitted',
  'rejected_on_report',
  'blacklisted',
  'opted_out',
  'given_up',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

const REASONS: Readonly<Record<ErrorCode, string>> = {
  network_refused: 'Wiadomość odrzucona przez operatora przy nadaniu.',
  invalid_destination: 'Wiadomość odrzucona przez operatora przy nadaniu: numer odbiorcy jest nieprawidłowy.',
  invalid_sender: 'Wiadomość odrzucona przez operatora przy nadaniu: nadawca nie jest dozwolony.',
  invalid_content:
    'Wiadomość odrzucona przez operatora przy nadaniu: treść jest za długa lub ma niedozwolone znaki.',
  not_permitted:
    'Wiadomość odrzucona przez operatora przy nadaniu: wysyłka do tego odbiorcy nie jest dozwolona.',
  rejected_on_report: 'Wiadomość odrzucona przez operatora w raporcie doręczenia.',
  blacklisted: 'Numer jest na czarnej liście konta.',
  opted_out: 'Numer jest na czarnej liście (odbiorca zrezygnował z wiadomości).',
  given_up: 'Wiadomość nie została wysłana: operator serwisu zrezygnował z nadania.',
};

/**
 * Why a message to a number on the blacklist is rejected: only where its owner opted out (v2.3.0, BlacklistEntry: reason
 * `opt_out`) may the text say so (Message, `error`).
 */
export function blacklistReason(optedOut: boolean): ErrorCode {
  return optedOut ? 'opted_out' : 'blacklisted';
}
const UNKNOWN_REASON = 'Wiadomość odrzucona.';

/** The Polish sentence of the field `error` of a message (v2.3.0, Message) for a stored error code. */
export function reasonText(errorCode: string): string {
  return isErrorCode(errorCode) ? REASONS[errorCode] : UNKNOWN_REASON;
}

function isErrorCode(code: string): code is ErrorCode {
  return (ERROR_CODES as readonly string[]).includes(code);
}

/** Most numbers that are listed at once (v2.3.0, Limits). */
export const BLACKLIST_ADDED_MAX = 1000;
/** Longest reason in characters, and the one of entries that say none. */
export const BLACKLIST_REASON_MAX = 200;
export const BLACKLIST_REASON_STANDARD = 'manual';
/** The latest end that an entry may have, epoch milliseconds: what the database can hold and show. */
export const BLACKLIST_LATEST_END = Date.UTC(9999, 11, 31);
