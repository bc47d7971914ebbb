import { notifiedKind, type ProviderEmailEvent } from './events.ts';

/** What a webhook is notified of about an e-mail: the event, and the e-mail it is of. */
export interface NotifiedEmailEvent {
  kind: ProviderEmailEvent['kind'];
  emailId: string;
  /** Whom of the e-mail's addresses it concerns; empty where that cannot be told. */
  to: readonly string[];
  fromAddress: string;
  subject: string;
  idx: string | null;
  receivedAt: Date;
  payload: object;
}

/** The body of an `email_event` (v1.2.0, Events). */
export function emailEvent({
  kind,
  emailId,
  to,
  fromAddress,
  subject,
  idx,
  receivedAt,
  payload,
}: NotifiedEmailEvent): object {
  return {
    event: 'email_event',
    kind: notifiedKind(kind),
    email_id: emailId,
    to: to.join(', '),
    from: fromAddress,
    subject,
    idx,
    received_at: receivedAt.toISOString(),
    provider_payload: payload,
  };
}
