import type { Channel } from './channelDeclaration.ts';
import type { Encoding } from './sms.ts';
import type { ReportState } from './incoming.ts';

/** One part of a message to submit, or the whole message where the provider splits it. */
export interface SubmitPart {
  /** Unique per submit: `msg_…/1`. Providers that support it return it in delivery reports. */
  reference: string;
  channel: Channel;
  /** MSISDN in E.164 with plus. */
  destination: string;
  sender: string | null;
  encoding: Encoding;
  text: string;
  /** Channel-specific content besides the text, for all parts. */
  content: object | null;
  /** From 1; 1 for a whole message. */
  part: number;
  parts: number;
  /** Shared by all parts of a message, different for the next message to the number: 0 to 65,535. */
  concatReference: number;
  priority: boolean;
  /** End of the validity period. */
  expiresAt: Date;
}

/**
 * The SMSC's answer to a submit. `throttled`, `later`, `broken`: certainly not accepted, retried (`broken` on another route if there is
 * one). `refused`: certainly not accepted, final. `unanswered`: acceptance unknown, so never resubmitted automatically.
 * `code` is the SMSC's own, for staff; `reason` is stored with the message.
 */
export type SubmitAnswer =
  | { kind: 'accepted'; providerMessageId: string }
  | { kind: 'throttled'; retryAfterMs: number; code?: string }
  | { kind: 'later'; retryAfterMs: number; code?: string }
  | { kind: 'broken'; code: string }
  | { kind: 'refused'; reason: RefusalReason; code?: string }
  | { kind: 'unanswered'; code?: string };

/** The e-mail or account that may itself have caused an answer blamed on the route. */
export interface Suspect {
  kind: 'email' | 'account';
  id: string;
}

/** An answer that came after its submit was recorded as `unanswered`. */
export type LateAnswer = Exclude<SubmitAnswer, { kind: 'unanswered' }>;

/** The code of a `broken` answer when no session was open. */
export const NO_SESSION = 'no_session';

export type RefusalReason =
  'network_refused' | 'invalid_destination' | 'invalid_sender' | 'invalid_content' | 'not_permitted';

export interface DeliveryReport {
  /** As in the submit's answer, after the route's rule; '' where the report has none. */
  providerMessageId: string;
  /** Further ids that may be the part's, tried in this order when the first matches none. */
  otherIds?: readonly string[];
  /** Our reference, where the provider returns it. */
  reference: string | null;
  /** It stands for all parts of the message: the SMSC reports on one of them only. */
  whole?: boolean;
  phone?: string | null;
  state: ReportState;
  /** The carrier's code. */
  errorCode: string | null;
  /** The raw report without the message's text; at most 300 characters. */
  details?: string | null;
}

/** Status of a number in its network (v2.3.0, HlrResult). */
export const LOOKUP_STATUSES = ['active', 'inactive', 'invalid', 'unknown'] as const;
export type LookupStatus = (typeof LOOKUP_STATUSES)[number];

/** A lookup's result; null where the provider does not say. */
export interface LookupFinding {
  status: LookupStatus;
  network: string | null;
  /** Mobile country code, three digits. */
  mcc: string | null;
  /** Mobile network code, two or three digits. */
  mnc: string | null;
  ported: boolean | null;
}

export const NOTHING_FOUND = { network: null, mcc: null, mnc: null, ported: null };

export type LookupAnswer = ({ kind: 'found' } & LookupFinding) | { kind: 'failed' } | { kind: 'timed_out' };

export interface StartableLookup {
  id: string;
  accountId: string;
  route: string;
}

/** Why a lookup is refunded: the provider's answer, or no workflow started before the caller's timeout (`abandoned`). */
export type LookupFailure = 'failed' | 'timed_out' | 'abandoned';

/** Status of a lookup; contains nothing about the number, so it may appear in a workflow's history. */
export type LookupState =
  { state: 'charged' | 'done'; reason: null } | { state: 'failed'; reason: LookupFailure };
