import type { DnsRecord, SeenRecord } from '../domain/email/dns.ts';
import type { ProviderEmailEvent } from '../domain/email/statuses.ts';
import type { Suspect } from '../domain/submission.ts';
import type { CallbackCall } from './callbacks.ts';
import type { NotSubmitted } from './provider.ts';

/** A file of an e-mail. */
export interface SubmitAttachment {
  filename: string;
  contentType: string;
  /** How the HTML refers to it (`cid:…`), without brackets; null: it is only attached. */
  contentId: string | null;
  bytes: number;
  /** Its bytes, read piece by piece each time it is called; the length of every piece but the last is a multiple of three. */
  content: () => AsyncIterable<Buffer>;
}

/** An e-mail on its way to a provider: the same at every try. Nothing in it has a line break but the bodies. */
export interface SubmitEmail {
  /** Ours, `em_…`: the provider's idempotency key. */
  id: string;
  /** Whose it is: one account does not get all that a route has. The provider is not given it. */
  accountId: string;
  from: { address: string; name: string | null };
  replyTo: string | null;
  to: readonly string[];
  cc: readonly string[];
  bcc: readonly string[];
  subject: string;
  /** One of the two at least. */
  html: string | null;
  text: string | null;
  /** Headers of the caller's, of those that are allowed. */
  headers: readonly (readonly [name: string, value: string])[];
  /** Address (https) of one-click unsubscribing (RFC 8058); null: the e-mail offers none. */
  listUnsubscribe: string | null;
  attachments: readonly SubmitAttachment[];
  /** The sender's domain, for providers that leave the signature to us; without a key where it was removed after the first try. */
  domain: SigningDomain | { name: string; selector: null; privateKey: null };
  /** When the e-mail was accepted. */
  createdAt: Date;
}

/** The headers of one-click unsubscribing (RFC 8058, 3.1); none where the e-mail offers none. */
export function unsubscribeHeaders({
  listUnsubscribe,
}: Pick<SubmitEmail, 'listUnsubscribe'>): (readonly [name: string, value: string])[] {
  if (listUnsubscribe === null) return [];
  return [
    ['List-Unsubscribe', `<${listUnsubscribe}>`],
    ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
  ];
}

/** What a sender domain is signed with. */
export interface SigningDomain {
  name: string;
  /** Of DKIM: the key is found at `<selector>._domainkey.<name>`. */
  selector: string;
  /** RSA, PEM (PKCS #8). */
  privateKey: string;
}

/** Why a provider refuses an e-mail for good. */
export type EmailRefusal =
  'provider_refused' | 'sender_refused' | 'recipients_refused' | 'content_refused' | 'not_permitted';

/** An address that an e-mail was not taken for, and what the provider said of it. */
export interface RefusedAddress {
  address: string;
  code: string;
  /** It will never take anything; false: another e-mail may arrive there. */
  permanent: boolean;
}

/**
 * The provider's answer to a hand-over. `throttled`, `later` and `broken`: certainly not taken, to be tried again, `broken` on
 * another route if there is one; `refused`: certainly not taken, final; `unanswered`: nobody knows. `code` is the provider's own, for
 * staff; `reason` is stored with the e-mail.
 */
export type EmailAnswer =
  /** `refused` are addresses that it was not taken for, the others have it. */
  | { kind: 'accepted'; providerEmailId: string; refused?: readonly RefusedAddress[] }
  | { kind: 'throttled'; retryAfterMs: number; code?: string }
  | { kind: 'later'; retryAfterMs: number; code?: string }
  /** `ofSender`: perhaps of this sender alone, and to be tried again by this route after so long. */
  | { kind: 'broken'; code: string; ofSender?: { retryAfterMs: number } }
  /**
   * `refused` are the addresses that were refused, where that is the reason and each was answered for. `always`: for what the e-mail itself
   * says, so that no earlier try of it can have been taken.
   */
  | {
      kind: 'refused';
      reason: EmailRefusal;
      code?: string;
      refused?: readonly RefusedAddress[];
      always?: true;
    }
  /** `final`: asked again it would say the same. */
  | { kind: 'unanswered'; code?: string; final?: true };

/**
 * What may itself be to blame for an answer: the e-mail; or the account, where it is perhaps of its sender alone, as an account may have any
 * number of domains.
 */
export function suspectOf(
  answer: EmailAnswer,
  { id, accountId }: Pick<SubmitEmail, 'id' | 'accountId'>,
): Suspect {
  return answer.kind === 'broken' && answer.ofSender !== undefined
    ? { kind: 'account', id: accountId }
    : { kind: 'email', id };
}

/** The e-mail side of a provider. */
export interface EmailGate {
  /**
   * For so long after its first try an e-mail that is handed over again is taken once, in milliseconds: one without an answer is
   * handed over again until there is one. 0: the provider knows no such key, and what got no answer is never repeated.
   */
  readonly settlesForMs: number;
  /**
   * Names the provider's account, which alone knows what it has taken: what was first given to another one is not repeated. Absent:
   * there is one account only.
   */
  readonly keyScope?: string;
  /** What has left is answered within this time, in milliseconds. */
  readonly answersWithinMs: number;
  /** It reports that an e-mail is `sent` by an event; absent: the answer to the hand-over is that event. */
  readonly reportsSent?: true;
  /**
   * Hands one e-mail over. Answers in its own time, with `unanswered` at the latest; never throws for what a provider does. Calls `leave`
   * when it could be sent now, and then sends at once.
   *
   * @param leave keeps the route's rate and notes that the e-mail is on its way; resolves to false when it must not leave. What it
   * rejects with is thrown on; nothing was sent then.
   */
  submit(email: SubmitEmail, leave: () => Promise<boolean>): Promise<EmailAnswer | NotSubmitted>;
}

/** A domain as the provider's own list has it. */
export interface ProviderDomain {
  /** The provider's. */
  id: string;
  /** Whether the provider takes e-mails from it. */
  verified: boolean;
  records: readonly SeenRecord[];
}

/** The provider gave no usable answer about a domain. The message is for staff, without secrets. */
export class DomainProblem extends Error {
  override readonly name = 'DomainProblem';
}

/** Where a sender domain has to be known for a kind's routes. */
export type DomainRule<Settings, Credentials> =
  /** Nowhere: its DNS names us. @param publicKey RSA, base64 of its DER form */
  | {
      by: 'us';
      records(
        settings: Settings,
        domain: { name: string; selector: string; publicKey: string },
      ): readonly DnsRecord[];
    }
  /** In the provider's list. Each call throws {@link DomainProblem}, and may be repeated. */
  | {
      by: 'provider';
      /** Adds it, or finds it there. */
      add: (settings: Settings, credentials: Credentials, name: string) => Promise<ProviderDomain>;
      /** Has the provider look at its DNS. Null: it does not have it any more. */
      check: (settings: Settings, credentials: Credentials, id: string) => Promise<ProviderDomain | null>;
      remove: (settings: Settings, credentials: Credentials, id: string) => Promise<void>;
    };

/** How a provider calls `/v1/email/callback`. */
export interface EmailCallback<Credentials> {
  /** Whether the provider signed this, just now; compares in constant time. */
  signed: (credentials: Credentials, call: CallbackCall) => Promise<boolean>;
  /** @returns null when this is no event: nothing of it is stored, and the provider is to call again */
  read: (call: CallbackCall) => Promise<readonly ProviderEmailEvent[] | null>;
}

/** Waits until the rate of the route has a place for one request more. */
export type Turn = () => Promise<void>;

/** A provider's own list of addresses that it sends nothing to. */
interface ProviderSuppressions<Settings, Credentials> {
  /**
   * Takes an address off it; one that is not on it is no problem.
   * @param turn to be waited for before each request, as its e-mails share the rate
   * @returns what came in the way, in words for staff and without the address; null: nothing did
   */
  remove: (
    settings: Settings,
    credentials: Credentials,
    address: string,
    turn: Turn,
  ) => Promise<string | null>;
}

/** What a kind declares that hands e-mails over. */
export interface EmailKind<Settings, Credentials> {
  domains: DomainRule<Settings, Credentials>;
  /** Absent: it keeps no such list. */
  suppressions?: ProviderSuppressions<Settings, Credentials>;
  /** Absent: it calls nobody. */
  callback?: EmailCallback<Credentials>;
}
