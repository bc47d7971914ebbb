import { NOTIFIED_STATUSES } from './statuses.ts';

/** An event that an account sends itself, to try its webhook. */
export const TEST_EVENT_TYPE = 'webhook.test';

/** v2.3.0, Events; those of sender domains, verifications and the balance, and the test are ours. */
export const WEBHOOK_EVENT_TYPES = [
  ...NOTIFIED_STATUSES.map((status) => `message.${status}` as const),
  'message.received',
  'link.clicked',
  'domain.verified',
  'domain.lost',
  'verification.approved',
  'balance.low',
  TEST_EVENT_TYPE,
] as const;

export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number];

/** v1.2.0, Events. */
export const EARLIER_EVENT_TYPES = ['delivery_report', 'incoming_sms', 'email_event'] as const;

type EarlierEventType = (typeof EARLIER_EVENT_TYPES)[number];

/** Whether an event is of the v1 API: in its format, and sent to its URL. */
export function isEarlierEvent(type: string): type is EarlierEventType {
  return EARLIER_EVENT_TYPES.some((earlier) => earlier === type);
}

/** Time of each attempt, in milliseconds after the first (v2.3.0, Events, Delivery: 0 s, 2 s and 10 s). */
export const ATTEMPTS_AT_MS: readonly number[] = [0, 2_000, 10_000];

export const ATTEMPTS = ATTEMPTS_AT_MS.length;

/** Attempts of an event; one in the v1 API (v1.2.0, Events: no retry). */
export function attemptsOf(type: string): number {
  return isEarlierEvent(type) ? 1 : ATTEMPTS;
}

export const ATTEMPT_TIMEOUT_MS = 10_000;

/** Milliseconds to wait after a failed attempt; null after the last one. @param number of the failed attempt, from 1 */
export function pauseAfterAttempt(number: number, attempts = ATTEMPTS): number | null {
  const next = ATTEMPTS_AT_MS[number];
  return next === undefined || number >= attempts ? null : next - ATTEMPTS_AT_MS[number - 1]!;
}

/** A webhook's URL without path and query, which often contain a secret; null for an invalid one. */
export function withoutPath(address: string | null): string | null {
  if (address === null || !URL.canParse(address)) return null;
  const { origin, pathname, search } = new URL(address);
  return `${origin}${pathname === '/' && search === '' ? '' : '/…'}`;
}

/** Characters of a webhook's address. */
export const WEBHOOK_URL_MAX = 2048;

/** Signature of a webhook request (v2.3.0, Events). */
export const SIGNATURE_HEADER = 'X-Service-Signature' as const;
/** Signature by the previous secret, for a day after a rotation; ours. */
export const PREVIOUS_SIGNATURE_HEADER = 'X-Service-Signature-Previous';

export const SIGNATURE_PATTERN = '^t=[0-9]+,v1=[0-9a-f]{64}$';

/** Input of the signature, an HMAC-SHA256 keyed with the secret. @param t Unix time in seconds */
export function signedText(t: number, body: string): string {
  return `${t}.${body}`;
}

/** A signature as in its header. @param hex hexadecimal HMAC-SHA256 of {@link signedText} */
export function signatureOf(t: number, hex: string): string {
  return `t=${t},v1=${hex}`;
}

/** Input of a v1 signature (v1.2.0, Events). @param t Unix time in seconds */
export function earlierSignedText(t: number, body: string): string {
  return `v1.${t}.${body}`;
}

export const EARLIER_SIGNATURE_PATTERN = '^v1,t=[0-9]+,sig=[0-9a-f]{64}$';

/** A v1 signature as in its header. @param hex hexadecimal HMAC-SHA256 of {@link earlierSignedText} */
export function earlierSignatureOf(t: number, hex: string): string {
  return `v1,t=${t},sig=${hex}`;
}
