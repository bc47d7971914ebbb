import { readAccount } from '../../db/accounts/accounts.ts';
import { emailOfIdx } from '../../db/emails/ownEmails.ts';
import { newId } from '../../db/ids.ts';
import { emailAddress } from '../../domain/email/address.ts';
import { INTERFACE } from '../../domain/ids.ts';
import { type Refusal, Refused } from '../../domain/refusals.ts';
import { refuseInactive } from '../accounts/accounts.ts';
import { type EmailServices, sendEmail } from './send.ts';

/** What stands behind the service's own e-mails. */
export interface OwnEmailServices extends EmailServices {
  /** The account of the house that they are sent from and charged to (`OWN_EMAIL_ACCOUNT`); null: none are sent. */
  ownEmailAccount: string | null;
}

/** An e-mail of the service itself. */
export interface OwnEmail {
  /** As anybody wrote it. */
  to: string;
  subject: string;
  /** Plain text: whatever somebody wrote into it stays what it is. */
  text: string;
  /** What it is about, at most 64 characters: with the same one it is sent once, however long ago that was. It is logged, so nothing personal. */
  idx: string;
}

/**
 * What came of an own e-mail. `accepted` where every address is suppressed too: that it goes to nobody is in the e-mail's status. `again`:
 * it may be accepted the next time.
 */
type OwnEmailOutcome =
  | { state: 'accepted'; emailId: string }
  | { state: 'off' }
  | { state: 'refused'; reason: Refusal['reason'] | 'failed'; again: boolean };

// What stays so: the address is none.
const FINAL: readonly Refusal['reason'][] = ['address_malformed'];

/**
 * Sends an e-mail of the service itself as the account of the house sends its own: from its default domain, charged to it, by the same
 * workflow and routes. What it reports of is never held up for more than ten seconds, nor failed: whatever comes in the way is logged and
 * answered, and the next call with the same `idx` sends it or finds it sent.
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

/** @throws Refused */
async function sendFrom(services: OwnEmailServices, accountId: string, email: OwnEmail): Promise<string> {
  const to = emailAddress(email.to);
  if (to === null) throw new Refused({ reason: 'address_malformed', field: 'to' }, 'to');
  await requireActive(services, accountId);
  const { subject, text, idx } = email;
  const { body: sent } = await sendEmail({
    services,
    caller: { accountId },
    input: {
      ...{ interface: INTERFACE, to: [to], cc: [], bcc: [], subject, html: null, text, idx },
      ...{ from: null, fromName: null, replyTo: null, headers: [], attachments: [], listUnsubscribe: false },
    },
    requestId: newId('req'),
    receivedAt: Date.now(),
  });
  return sent.id;
}

/** As the keys of an account are refused, which nobody shows here. @throws Refused */
async function requireActive({ sql }: OwnEmailServices, accountId: string): Promise<void> {
  const account = await readAccount(sql, accountId);
  refuseInactive(account?.status ?? 'closed');
}
