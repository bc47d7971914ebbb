import type { Channel } from './channelDeclaration.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** A scheduled message can be cancelled until this long before its send time (v2.3.0, Limits). */
export const CANCEL_LEAD_MS = 30 * SECOND_MS;

/** Validity after the send time, unless the request sets one. */
export const DEFAULT_EXPIRY_MS = 72 * HOUR_MS;

/** Bounds of `expires_at` after the send time (v2.3.0, Limits). */
export const EXPIRES_MIN_MS = 15 * MINUTE_MS;
export const EXPIRES_MAX_MS = 72 * HOUR_MS;

/** How far ahead `send_at` may lie (v2.3.0, Limits). */
export const SEND_AT_HORIZON_MS = 90 * DAY_MS;

/** v2.3.0, States and transitions. */
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

/** Initial statuses; a message to a blacklisted number is rejected and costs nothing. */
export const ACCEPTED_STATUSES = [
  'scheduled',
  'queued',
  'rejected',
] as const satisfies readonly MessageStatus[];

export type AcceptedStatus = (typeof ACCEPTED_STATUSES)[number];

interface Transition {
  from: MessageStatus;
  to: MessageStatus;
  /** Whether the cost is refunded; `unsubmitted`: only if nothing was submitted to the provider. */
  refund: 'always' | 'unsubmitted' | 'never';
}

/** The whole state machine (v2.3.0, States and transitions); the database allows no other transitions either. */
export const TRANSITIONS = [
  // Send time reached, or cancelled before it.
  { from: 'scheduled', to: 'queued', refund: 'never' },
  { from: 'scheduled', to: 'cancelled', refund: 'always' },
  // Account suspended until the message expired.
  { from: 'scheduled', to: 'expired', refund: 'unsubmitted' },
  // The provider's answer to the submit.
  { from: 'queued', to: 'sent', refund: 'never' },
  { from: 'queued', to: 'failed', refund: 'always' },
  // Never submitted: opted out after acceptance, or account closed.
  { from: 'queued', to: 'rejected', refund: 'always' },
  { from: 'queued', to: 'cancelled', refund: 'always' },
  { from: 'queued', to: 'expired', refund: 'unsubmitted' },
  // Delivery reports, or none in time.
  { from: 'sent', to: 'delivered', refund: 'never' },
  { from: 'sent', to: 'undelivered', refund: 'never' },
  { from: 'sent', to: 'failed', refund: 'never' },
  { from: 'sent', to: 'expired', refund: 'never' },
] as const satisfies readonly Transition[];

type AnyTransition = (typeof TRANSITIONS)[number];

export type FinalStatus = Exclude<MessageStatus, AnyTransition['from']>;

export const FINAL_STATUSES: readonly FinalStatus[] = MESSAGE_STATUSES.filter(isFinal);

/** Statuses that notify the account's webhook as `message.<status>` (v2.3.0, Events). */
export const NOTIFIED_STATUSES = [
  'sent',
  'delivered',
  'undelivered',
  'failed',
  'expired',
] as const satisfies readonly MessageStatus[];

export function isFinal(status: MessageStatus): status is FinalStatus {
  return !TRANSITIONS.some(({ from }) => from === status);
}

export interface StartableMessage {
  id: string;
  channel: Channel;
  accountId: string;
  requestId: string;
  /** One of several recipients of its request. */
  batched: boolean;
  route: string;
  /** When to submit, epoch milliseconds; null: immediately. */
  sendAt: number | null;
  /** When the wait for delivery reports ends, epoch milliseconds. */
  giveUpAt: number;
  priority: boolean;
}

// Why a message failed or was rejected; stored as a code, worded when shown: in Polish, in English.
const REASONS = {
  network_refused: [
    'Wiadomość odrzucona przez operatora przy nadaniu.',
    'The network operator refused the message when it was submitted.',
  ],
  invalid_destination: [
    'Wiadomość odrzucona przez operatora przy nadaniu: numer odbiorcy jest nieprawidłowy.',
    'The network operator refused the message when it was submitted: the number of the recipient is invalid.',
  ],
  invalid_sender: [
    'Wiadomość odrzucona przez operatora przy nadaniu: nadawca nie jest dozwolony.',
    'The network operator refused the message when it was submitted: the sender is not allowed.',
  ],
  invalid_content: [
    'Wiadomość odrzucona przez operatora przy nadaniu: treść jest za długa lub ma niedozwolone znaki.',
    'The network operator refused the message when it was submitted: the text is too long or has characters that are not allowed.',
  ],
  not_permitted: [
    'Wiadomość odrzucona przez operatora przy nadaniu: wysyłka do tego odbiorcy nie jest dozwolona.',
    'The network operator refused the message when it was submitted: sending to this recipient is not allowed.',
  ],
  rejected_on_report: [
    'Wiadomość odrzucona przez operatora w raporcie doręczenia.',
    'The network operator refused the message in its delivery report.',
  ],
  blacklisted: ['Numer jest na czarnej liście konta.', 'The number is on the blacklist of the account.'],
  opted_out: [
    'Numer jest na czarnej liście (odbiorca zrezygnował z wiadomości).',
    'The number is on the blacklist (the recipient opted out).',
  ],
  given_up: [
    'Wiadomość nie została wysłana: operator serwisu zrezygnował z nadania.',
    'The message was not sent: the operator of the service gave it up.',
  ],
} as const satisfies Readonly<Record<string, readonly [polish: string, english: string]>>;
export type ErrorCode = keyof typeof REASONS;

/** Only where the recipient opted out may `error` say so (v2.3.0, Message; BlacklistEntry, `opt_out`). */
export function blacklistReason(optedOut: boolean): ErrorCode {
  return optedOut ? 'opted_out' : 'blacklisted';
}
const UNKNOWN_REASON = ['Wiadomość odrzucona.', 'The message was refused.'] as const;

/** The Polish sentence for a stored error code, the field `error` (v2.3.0, Message). */
export function reasonText(errorCode: string): string {
  return Object.hasOwn(REASONS, errorCode) ? REASONS[errorCode as ErrorCode][0] : UNKNOWN_REASON[0];
}

/** The same in English, for staff. */
export function reasonForStaff(errorCode: string): string {
  return reasonInEnglish(reasonText(errorCode));
}

/** The English sentence for a {@link reasonText}. */
export function reasonInEnglish(polish: string): string {
  return (Object.values(REASONS).find(([text]) => text === polish) ?? UNKNOWN_REASON)[1];
}

/** Numbers blacklisted per request (v2.3.0, Limits). */
export const BLACKLIST_ADDED_MAX = 1000;
/** Reason of an entry in characters, and its default. */
export const BLACKLIST_REASON_MAX = 200;
export const BLACKLIST_REASON_STANDARD = 'manual';
/** Latest end of an entry, epoch milliseconds: what the database can hold and show. */
export const BLACKLIST_LATEST_END = Date.UTC(9999, 11, 31);
