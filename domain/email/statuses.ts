import type { ProviderEmailEvent } from './events.ts';

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
