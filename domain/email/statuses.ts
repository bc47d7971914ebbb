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

export const SHOWN_RECIPIENT_STATES = [...RECIPIENT_STATES, 'failed', 'unknown'] as const;

/** An address's state as shown to the account: none stays queued in an e-mail that has ended. */
export function shownState(status: EmailStatus, state: RecipientState) {
  return state === 'queued' && (status === 'failed' || status === 'unknown') ? status : state;
}

// The states in order, the worst last. `suppressed` is outside of it and final.
const COURSE: readonly RecipientState[] = ['queued', 'sent', 'delayed', 'delivered', 'bounced', 'complained'];

const LEADS_TO: Readonly<Record<ProviderEmailEvent['kind'], RecipientState>> = {
  sent: 'sent',
  delayed: 'delayed',
  delivered: 'delivered',
  // Opening implies delivery.
  opened: 'delivered',
  clicked: 'delivered',
  // Also e-mails that a mail server accepted and returned later.
  bounced: 'bounced',
  failed: 'bounced',
  suppressed: 'bounced',
  complained: 'complained',
};

/** The state of an address after an event; the order of events does not matter. */
export function stateAfter(
  state: RecipientState,
  { kind }: Pick<ProviderEmailEvent, 'kind'>,
): RecipientState {
  const to = LEADS_TO[kind];
  return state !== 'suppressed' && COURSE.indexOf(to) > COURSE.indexOf(state) ? to : state;
}

/** Status of an e-mail that the provider accepted: the worst of its addresses; delivered only when all are. */
export function statusOfRecipients(states: readonly RecipientState[]): EmailStatus {
  const sentTo = states.filter((state) => state !== 'suppressed');
  if (sentTo.length === 0) return 'suppressed';
  if (sentTo.includes('complained')) return 'complained';
  if (sentTo.includes('bounced')) return 'bounced';
  return sentTo.every((state) => state === 'delivered') ? 'delivered' : 'sent';
}

export function suppressionAfter({
  kind,
  permanent,
}: Pick<ProviderEmailEvent, 'kind' | 'permanent'>): 'bounce' | 'complaint' | null {
  if (kind === 'complained') return 'complaint';
  // It stays on the provider's own list until it is removed there.
  if (kind === 'suppressed') return 'bounce';
  return kind === 'bounced' && permanent === true ? 'bounce' : null;
}

/** Events of an e-mail for the account's webhook (v1.2.0, States and transitions). */
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

/** The kind for the webhook: e-mails that the provider did not send, by its own list or a failure, count as bounced. */
export function notifiedKind(kind: ProviderEmailEvent['kind']): EmailEventKind {
  return kind === 'failed' || kind === 'suppressed' ? 'bounced' : kind;
}

export interface ProviderEmailEvent {
  /** The provider's, unique per route: a repeated id is the same event. At most 200 characters. */
  eventId: string;
  /** Our id, where the provider returns it. */
  emailId: string | null;
  /** As in the submit's answer; null where the event has none. */
  providerEmailId: string | null;
  kind: EmailEventKind | 'failed' | 'suppressed';
  /** Bounces: whether the address is permanently undeliverable; else null. */
  permanent: boolean | null;
  /** The addresses concerned, as the provider writes them; empty: all. */
  addresses: readonly string[];
  /** `addresses` are all of `to`, whichever the event concerns. Absent: they are those it concerns. */
  namesAllTo?: boolean;
  at: Date;
  /** Any recipient of the e-mail could have written it. Absent: the provider vouches for it. */
  unverified?: boolean;
  /** The provider's data, as JSON: at most 64 kB. */
  payload: Record<string, unknown>;
}
