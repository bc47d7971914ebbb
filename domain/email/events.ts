/** What the account's webhook is notified of about an e-mail (v1.2.0, States and transitions). */
export const EMAIL_EVENT_KINDS = [
  'sent',
  'delivered',
  'bounced',
  'complained',
  'delayed',
  'opened',
  'clicked',
] as const;

export type EmailEventKind = (typeof EMAIL_EVENT_KINDS)[number];

/** What the webhook is notified of: what the provider did not send, by its own list or for a fault of its own, has not arrived. */
export function notifiedKind(kind: ProviderEmailEvent['kind']): EmailEventKind {
  return kind === 'failed' || kind === 'suppressed' ? 'bounced' : kind;
}

/** An event as a provider reported it. */
export interface ProviderEmailEvent {
  /** The provider's, unique on its route: the same again is the same event. At most 200 characters. */
  eventId: string;
  /** Our id, where the provider returns it. */
  emailId: string | null;
  /** As the hand-over's answer had it; null where the event names none. */
  providerEmailId: string | null;
  kind: EmailEventKind | 'failed' | 'suppressed';
  /** Of a bounce: whether the address will never take anything; null of all else. */
  permanent: boolean | null;
  /** Whom it concerns, as the provider writes them; empty: everybody. */
  addresses: readonly string[];
  /** `addresses` are all that the e-mail has in `to`, whomever of its addresses it concerns. Absent: they are those it concerns. */
  namesAllTo?: boolean;
  /** When it happened. */
  at: Date;
  /** Nobody vouches for it: whoever got the e-mail could have written it. Absent: the provider itself says so. */
  hearsay?: boolean;
  /** The provider's own data, as JSON: at most 64 kB. */
  payload: Record<string, unknown>;
}
