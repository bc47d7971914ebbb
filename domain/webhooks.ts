import { NOTIFIED_STATUSES } from './statuses.ts';

/** What a webhook is notified of (v2.3.0, Events; those of a sender domain are ours). */
export const WEBHOOK_EVENT_TYPES = [
  ...NOTIFIED_STATUSES.map((status) => `message.${status}` as const),
  'message.received',
  'link.clicked',
  'domain.verified',
  'domain.lost',
] as const;

export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number];

/** What the webhook of the earlier interface is notified of (v1.2.0, Events). */
export const EARLIER_EVENT_TYPES = ['delivery_report', 'incoming_sms', 'email_event'] as const;

export type EarlierEventType = (typeof EARLIER_EVENT_TYPES)[number];

/** Whether an event is of the earlier interface: of its form, and for its address. */
export function isEarlierEvent(type: string): type is EarlierEventType {
  return EARLIER_EVENT_TYPES.some((earlier) => earlier === type);
}

/** When an event is tried, in milliseconds after its first attempt (v2.3.0, Events, Delivery: 0 s, 2 s and 10 s). */
export const ATTEMPTS_AT_MS: readonly number[] = [0, 2_000, 10_000];

/** How often an event of the current interface is tried. */
export const ATTEMPTS = ATTEMPTS_AT_MS.length;

/** How often an event is tried; of the earlier interface once (v1.2.0, Events: no retry). */
export function attemptsOf(type: string): number {
  return isEarlierEvent(type) ? 1 : ATTEMPTS;
}

/** How long an attempt waits for the receiver's answer. */
export const ATTEMPT_TIMEOUT_MS = 10_000;

/**
 * How long to wait after a failed attempt, in milliseconds.
 * @param number which of the event's attempts has failed, from 1
 * @param attempts how many the event has
 * @returns null after the last one
 */
export function pauseAfterAttempt(number: number, attempts = ATTEMPTS): number | null {
  const next = ATTEMPTS_AT_MS[number];
  return next === undefined || number >= attempts ? null : next - ATTEMPTS_AT_MS[number - 1]!;
}

/** Where webhooks go, without path and query: many receivers have a secret there. Null for what is no address. */
export function withoutPath(address: string | null): string | null {
  if (address === null || !URL.canParse(address)) return null;
  const { origin, pathname, search } = new URL(address);
  return `${origin}${pathname === '/' && search === '' ? '' : '/…'}`;
}

/** Carries the signature of a webhook call (v2.3.0, Events). */
export const SIGNATURE_HEADER = 'X-Service-Signature' as const;
/** The same by the secret before, for a day after a change; ours. */
export const PREVIOUS_SIGNATURE_HEADER = 'X-Service-Signature-Previous';

/** The form of a signature, as the source of a pattern. */
export const SIGNATURE_PATTERN = '^t=[0-9]+,v1=[0-9a-f]{64}$';

/** What a signature is made of: the HMAC-SHA256 of this, keyed with the secret. @param t Unix time in seconds */
export function signedText(t: number, body: string): string {
  return `${t}.${body}`;
}

/** A signature as its header has it. @param hex hexadecimal HMAC-SHA256 of {@link signedText} */
export function signatureOf(t: number, hex: string): string {
  return `t=${t},v1=${hex}`;
}

/** What a signature of the earlier interface is made of (v1.2.0, Events). @param t Unix time in seconds */
export function earlierSignedText(t: number, body: string): string {
  return `v1.${t}.${body}`;
}

/** The form of such a signature, as the source of a pattern. */
export const EARLIER_SIGNATURE_PATTERN = '^v1,t=[0-9]+,sig=[0-9a-f]{64}$';

/** A signature of the earlier interface as its header has it. @param hex hexadecimal HMAC-SHA256 of {@link earlierSignedText} */
export function earlierSignatureOf(t: number, hex: string): string {
  return `v1,t=${t},sig=${hex}`;
}
