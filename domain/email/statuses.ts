/** What an e-mail can be, as its account sees it. */
export const EMAIL_STATUSES = [
  'queued',
  'sent',
  'delivered',
  'bounced',
  'complained',
  'failed',
  'suppressed',
  'unknown',
] as const;

export type EmailStatus = (typeof EMAIL_STATUSES)[number];

/** What is known of one address of an e-mail. */
export const RECIPIENT_STATES = [
  'queued',
  'suppressed',
  'sent',
  'delivered',
  'delayed',
  'bounced',
  'complained',
] as const;

export type RecipientState = (typeof RECIPIENT_STATES)[number];

/** What an account is shown of one address. */
export const SHOWN_RECIPIENT_STATES = [...RECIPIENT_STATES, 'failed', 'unknown'] as const;

/** As an account is shown it: nothing goes on waiting in an e-mail that has ended without it. */
export function shownState(status: EmailStatus, state: RecipientState) {
  return state === 'queued' && (status === 'failed' || status === 'unknown') ? status : state;
}

// What an address has come to, the worst last. What was left out is none of them, and stays so.
const COURSE: readonly RecipientState[] = ['queued', 'sent', 'delayed', 'delivered', 'bounced', 'complained'];

const LEADS_TO: Readonly<Record<ProviderEmailEvent['kind'], RecipientState>> = {
  sent: 'sent',
  delayed: 'delayed',
  delivered: 'delivered',
  // Nobody opens what has not come.
  opened: 'delivered',
  clicked: 'delivered',
  // Also what a mail server took before it sent it back.
  bounced: 'bounced',
  failed: 'bounced',
  suppressed: 'bounced',
  complained: 'complained',
};

/** The state of an address after an event: the same after the same events, whatever their order. */
export function stateAfter(
  state: RecipientState,
  { kind }: Pick<ProviderEmailEvent, 'kind'>,
): RecipientState {
  const to = LEADS_TO[kind];
  return state !== 'suppressed' && COURSE.indexOf(to) > COURSE.indexOf(state) ? to : state;
}

/** What an e-mail is that a provider has, by its addresses: the worst that came of any; delivered when all are, and there are any. */
export function statusOfRecipients(states: readonly RecipientState[]): EmailStatus {
  const sentTo = states.filter((state) => state !== 'suppressed');
  if (sentTo.length === 0) return 'suppressed';
  if (sentTo.includes('complained')) return 'complained';
  if (sentTo.includes('bounced')) return 'bounced';
  return sentTo.every((state) => state === 'delivered') ? 'delivered' : 'sent';
}

/** Why an address is not written to any more, after an event; null: it may be. */
export function suppressionAfter({
  kind,
  permanent,
}: Pick<ProviderEmailEvent, 'kind' | 'permanent'>): 'bounce' | 'complaint' | null {
  if (kind === 'complained') return 'complaint';
  // On the provider's own list it stays until somebody takes it off there.
  if (kind === 'suppressed') return 'bounce';
  return kind === 'bounced' && permanent === true ? 'bounce' : null;
}

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

type EmailEventKind = (typeof EMAIL_EVENT_KINDS)[number];

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
  unverified?: boolean;
  /** The provider's own data, as JSON: at most 64 kB. */
  payload: Record<string, unknown>;
}
