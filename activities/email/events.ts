import type { OpenEmail } from '../../db/emails/handOver.ts';
import type { ProviderEmailEvent } from '../../domain/email/events.ts';
import type { EmailAnswer, EmailGate } from '../../providers/email.ts';

/**
 * What the answer to a hand-over says of the e-mail as events: that it is sent, where the provider has no event for that, and the
 * addresses that it was not taken for. The same again for the same e-mail.
 */
export function answerEvents(
  { id }: Pick<OpenEmail, 'id'>,
  {
    providerEmailId,
    refused = [],
  }: Pick<EmailAnswer & { kind: 'accepted' }, 'refused'> & { providerEmailId: string | null },
  { reportsSent }: Pick<EmailGate, 'reportsSent'>,
): ProviderEmailEvent[] {
  const common = { emailId: id, providerEmailId, at: new Date() };
  const sent: ProviderEmailEvent[] = reportsSent
    ? []
    : [{ ...common, eventId: `${id}:sent`, kind: 'sent', permanent: null, addresses: [], payload: {} }];
  const bounces = refused.map(({ address, code, permanent }, index): ProviderEmailEvent => ({
    ...common,
    eventId: `${id}:refused:${index}`,
    kind: 'bounced',
    permanent,
    addresses: [address],
    payload: { code },
  }));
  return [...sent, ...bounces];
}
