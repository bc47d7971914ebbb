/** What a webhook is notified of about an e-mail: the event, and the e-mail it is of. */
export interface NotifiedEmailEvent {
  kind: string;
  emailId: string;
  /** Whom the event concerns; empty: everybody. */
  addresses: readonly string[];
  /** Whom the e-mail went to, by `to`. */
  to: readonly string[];
  fromAddress: string;
  subject: string;
  receivedAt: Date;
  payload: object;
}

/** The body of an `email_event` (v1.2.0, Events). */
export function emailEvent({
  kind,
  emailId,
  addresses,
  to,
  fromAddress,
  subject,
  receivedAt,
  payload,
}: NotifiedEmailEvent): object {
  return {
    event: 'email_event',
    kind,
    email_id: emailId,
    to: (addresses.length > 0 ? addresses : to).join(', '),
    from: fromAddress,
    subject,
    received_at: receivedAt.toISOString(),
    provider_payload: payload,
  };
}
