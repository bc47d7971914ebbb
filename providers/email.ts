import type { DnsRecord, SeenRecord } from '../domain/email/dns.ts';
import type { ProviderEmailEvent } from '../domain/email/statuses.ts';
import type { Suspect } from '../domain/submission.ts';
import type { CallbackCall } from './callbacks.ts';
import type { NotSubmitted } from './provider.ts';

export interface SubmitAttachment {
  filename: string;
  contentType: string;
  /** Content-ID without brackets, which the HTML refers to as `cid:…`; null: a plain attachment. */
  contentId: string | null;
  bytes: number;
  /** Streams the bytes, anew at each call; the length of every chunk but the last is a multiple of three. */
  content: () => AsyncIterable<Buffer>;
}

/** An e-mail to submit, identical at every attempt. Only the bodies contain line breaks. */
export interface SubmitEmail {
  /** Our `em_…` id, the idempotency key. */
  id: string;
  /** For sharing the route fairly between accounts; not sent to the provider. */
  accountId: string;
  from: { address: string; name: string | null };
  replyTo: string | null;
  to: readonly string[];
  cc: readonly string[];
  bcc: readonly string[];
  subject: string;
  html: string | null;
  text: string | null;
  headers: readonly (readonly [name: string, value: string])[];
  /** One-click unsubscribe URL (https, RFC 8058); null: none. */
  listUnsubscribe: string | null;
  attachments: readonly SubmitAttachment[];
  /** The sender's domain, for providers that leave DKIM signing to us; without a key when it was removed after the first attempt. */
  domain: SigningDomain | { name: string; selector: null; privateKey: null };
  createdAt: Date;
}

/** One-click unsubscribe headers (RFC 8058, 3.1); empty when the e-mail offers none. */
export function unsubscribeHeaders({
  listUnsubscribe,
}: Pick<SubmitEmail, 'listUnsubscribe'>): (readonly [name: string, value: string])[] {
  if (listUnsubscribe === null) return [];
  return [
    ['List-Unsubscribe', `<${listUnsubscribe}>`],
    ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
  ];
}

export interface SigningDomain {
  name: string;
  selector: string;
  /** RSA, PEM (PKCS #8). */
  privateKey: string;
}

export type EmailRefusal =
  'provider_refused' | 'sender_refused' | 'recipients_refused' | 'content_refused' | 'not_permitted';

export interface RefusedAddress {
  address: string;
  code: string;
  /** The address will never accept e-mail; false: it may accept another one. */
  permanent: boolean;
}

/**
 * Certainly not accepted: `throttled` and `later` (retry), `broken` (retry, on another route if there is one), `refused` (final).
 * `unanswered`: unknown. `code` is the provider's own, for staff; `reason` is stored with the e-mail.
 */
export type EmailAnswer =
  /** `refused`: recipients that were not accepted; all others were. */
  | { kind: 'accepted'; providerEmailId: string; refused?: readonly RefusedAddress[] }
  | { kind: 'throttled'; retryAfterMs: number; code?: string }
  | { kind: 'later'; retryAfterMs: number; code?: string }
  /** `ofSender`: possibly the fault of this sender alone; this route may retry after `retryAfterMs`. */
  | { kind: 'broken'; code: string; ofSender?: { retryAfterMs: number } }
  /**
   * `refused`: recipients, if they are the reason and each got an answer. `always`: no earlier attempt can have been accepted, as the
   * content is at fault.
   */
  | {
      kind: 'refused';
      reason: EmailRefusal;
      code?: string;
      refused?: readonly RefusedAddress[];
      always?: true;
    }
  /** `final`: a retry would get the same answer. */
  | { kind: 'unanswered'; code?: string; final?: true };

/** What may be to blame for a failure: the e-mail, or its account if one of its senders may be (an account can have many domains). */
export function suspectOf(
  answer: EmailAnswer,
  { id, accountId }: Pick<SubmitEmail, 'id' | 'accountId'>,
): Suspect {
  return answer.kind === 'broken' && answer.ofSender !== undefined
    ? { kind: 'account', id: accountId }
    : { kind: 'email', id };
}

/** The e-mail side of a provider. */
export interface EmailProvider {
  /** Milliseconds for which the provider deduplicates retries by key. 0: it has no keys; an unanswered e-mail is never repeated. */
  readonly idempotencyWindowMs: number;
  /** The provider account that knows the keys: e-mails first submitted to another one are not repeated. Absent: only one account. */
  readonly keyScope?: string;
  readonly answerTimeoutMs: number;
  /** An event reports that an e-mail is `sent`; absent: the answer to the submit does. */
  readonly reportsSent?: true;
  /**
   * Submits one e-mail. Answers at the latest with `unanswered`, and never throws for what a provider does. Calls `beforeSubmit` when the e-mail
   * could be sent now, and sends it right afterwards.
   * @param beforeSubmit waits for the rate limit and records that the e-mail is on its way; false: it must not be sent. Its rejection is rethrown;
   *   nothing was sent then.
   */
  submit(email: SubmitEmail, beforeSubmit: () => Promise<boolean>): Promise<EmailAnswer | NotSubmitted>;
}

export interface ProviderDomain {
  id: string;
  verified: boolean;
  records: readonly SeenRecord[];
}

/** The provider gave no usable answer about a domain. The message is for staff, without secrets. */
export class DomainProblem extends Error {
  override readonly name = 'DomainProblem';
}

export type DomainRule<Settings, Credentials> =
  /** Nowhere: the domain's DNS points to us. @param publicKey RSA, base64 of its DER form */
  | {
      by: 'us';
      records(
        settings: Settings,
        domain: { name: string; selector: string; publicKey: string },
      ): readonly DnsRecord[];
    }
  /** In the provider's list. Each call throws {@link DomainProblem} and may be repeated. */
  | {
      by: 'provider';
      /** Adds the domain, or finds it in the list. */
      add: (settings: Settings, credentials: Credentials, name: string) => Promise<ProviderDomain>;
      /** Makes the provider check the domain's DNS. Null: the provider no longer has the domain. */
      check: (settings: Settings, credentials: Credentials, id: string) => Promise<ProviderDomain | null>;
      remove: (settings: Settings, credentials: Credentials, id: string) => Promise<void>;
    };

export interface EmailCallback<Credentials> {
  /** Whether the provider signed the request recently; compares in constant time. */
  signed: (credentials: Credentials, call: CallbackCall) => Promise<boolean>;
  /** @returns null when the request is not an event: nothing is stored, and the provider is expected to retry */
  read: (call: CallbackCall) => Promise<readonly ProviderEmailEvent[] | null>;
}

/** Waits until the route's rate limit allows one more request. */
export type AwaitRateLimit = () => Promise<void>;

interface ProviderSuppressions<Settings, Credentials> {
  /** Removes an address, if listed; awaits `awaitRateLimit` before each request, as e-mails share the rate limit. Null, or a problem for staff. */
  remove: (
    settings: Settings,
    credentials: Credentials,
    address: string,
    awaitRateLimit: AwaitRateLimit,
  ) => Promise<string | null>;
}

export interface EmailKind<Settings, Credentials> {
  domains: DomainRule<Settings, Credentials>;
  suppressions?: ProviderSuppressions<Settings, Credentials>;
  callback?: EmailCallback<Credentials>;
}
