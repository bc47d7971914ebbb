import { readAccount } from '../../db/accounts/accounts.ts';
import { emailOfIdx } from '../../db/emails/ownEmails.ts';
import { newId } from '../../db/ids.ts';
import { isAddressTaken } from '../../db/people/people.ts';
import { addressKey, emailAddress } from '../../domain/email/address.ts';
import { INTERFACE } from '../../domain/ids.ts';
import { type Refusal, Refused } from '../../domain/refusals.ts';
import { refuseInactive } from '../accounts/accounts.ts';
import { type EmailServices, sendEmail } from './send.ts';
import { retryBounced } from './suppressions.ts';

export interface OwnEmailServices extends EmailServices {
  /** The operator's account that sends and pays for them (`OWN_EMAIL_ACCOUNT`); null: disabled. */
  ownEmailAccount: string | null;
}

export interface OwnEmail {
  /** Unvalidated addresses. */
  to: string | readonly string[];
  subject: string;
  /** Plain text, so user input in it needs no escaping. */
  text: string;
  /** Idempotency key without expiry, at most 64 characters. It is logged, so no personal data. */
  idx: string;
  /** The text holds secrets: it is encrypted until a provider gets it. */
  secret?: boolean;
}

/** `accepted` also if every address is suppressed (the e-mail's status says so); `again`: a retry may succeed. */
type OwnEmailOutcome =
  | { state: 'accepted'; emailId: string }
  | { state: 'off' }
  | { state: 'refused'; reason: Refusal['reason'] | 'failed'; again: boolean };

const FINAL: readonly Refusal['reason'][] = ['address_malformed'];

/**
 * Sends an e-mail as the operator's account, through the normal workflow and routes. Never throws and takes at most ten seconds, so it
 * cannot fail the operation it reports on: failures are logged and returned, and a later call with the same `idx` retries.
 */
export async function sendOwnEmail(services: OwnEmailServices, email: OwnEmail): Promise<OwnEmailOutcome> {
  const { ownEmailAccount: accountId, log } = services;
  if (accountId === null) return { state: 'off' };
  try {
    const known = await emailOfIdx(services.sql, accountId, email.idx);
    return { state: 'accepted', emailId: known ?? (await sendFrom(services, accountId, email)) };
  } catch (error) {
    if (!(error instanceof Refused)) {
      log.error({ err: error, ownEmail: email.idx }, 'an own e-mail could not be sent');
      return { state: 'refused', reason: 'failed', again: true };
    }
    const { reason } = error.refusal;
    log.warn({ ownEmail: email.idx, reason }, 'an own e-mail is refused');
    return { state: 'refused', reason, again: !FINAL.includes(reason) };
  }
}

async function sendFrom(services: OwnEmailServices, accountId: string, email: OwnEmail): Promise<string> {
  const to = [email.to].flat().map((address) => {
    const read = emailAddress(address);
    if (read === null) throw new Refused({ reason: 'address_malformed', field: 'to' }, 'to');
    return read;
  });
  // The account check that otherwise happens with the API key.
  refuseInactive((await readAccount(services.sql, accountId))?.status ?? 'closed');
  const { subject, text, idx, secret } = email;
  // A mailbox that took no e-mail a day ago may take this one: otherwise only staff could let the person in.
  if (secret === true)
    for (const key of to.map(addressKey))
      if (await isAddressTaken(services.sql, key)) await retryBounced(services, accountId, key);
  const { body: sent } = await sendEmail({
    services,
    caller: { accountId },
    input: {
      interface: INTERFACE,
      to,
      cc: [],
      bcc: [],
      subject,
      html: null,
      text,
      idx,
      from: null,
      fromName: null,
      replyTo: null,
      headers: [],
      attachments: [],
      listUnsubscribe: false,
      ...(secret === true ? { secret } : {}),
    },
    requestId: newId('req'),
    receivedAt: Date.now(),
  });
  return sent.id;
}
