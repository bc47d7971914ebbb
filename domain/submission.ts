import type { Channel } from './channelDeclaration.ts';
import type { Encoding } from './sms.ts';
import type { ReportState } from './incoming.ts';

/** One part of a message on its way to the SMSC, or a whole message where the provider cuts it itself. */
export interface SubmitPart {
  /** Ours, unique per submit: `msg_…/1`. Providers that can carry it return it in their delivery reports. */
  reference: string;
  channel: Channel;
  /** MSISDN in E.164 with plus. */
  destination: string;
  sender: string | null;
  encoding: Encoding;
  text: string;
  /** What the channel has beside the text, for all parts; null: nothing. */
  content: object | null;
  /** From 1; 1 for a whole message. */
  part: number;
  /** Of the message. */
  parts: number;
  /** The same for all parts of a message, another one for the next message to the number: 0 to 65,535. */
  concatReference: number;
  priority: boolean;
  /** The end of delivery attempts. */
  expiresAt: Date;
}

/**
 * The SMSC's answer to a submit. `throttled`, `later` and `broken`: certainly not taken, to be tried again, `broken` on
 * another route if there is one; `refused`: certainly not taken, final; `unanswered`: nobody knows, so it is never
 * repeated by itself. `code` is the SMSC's own, for staff; `reason` is stored with the message.
 */
export type SubmitAnswer =
  | { kind: 'accepted'; providerMessageId: string }
  | { kind: 'throttled'; retryAfterMs: number; code?: string }
  | { kind: 'later'; retryAfterMs: number; code?: string }
  | { kind: 'broken'; code: string }
  | { kind: 'refused'; reason: RefusalReason; code?: string }
  | { kind: 'unanswered'; code?: string };

/** What may itself be to blame for an answer that blames the route. */
export interface Suspect {
  kind: 'email' | 'account';
  id: string;
}

/** An answer that came after its submit had counted as `unanswered`. */
export type LateAnswer = Exclude<SubmitAnswer, { kind: 'unanswered' }>;

/** The code of a `broken` answer when there was no open session to submit on. */
export const NO_SESSION = 'no_session';

/** Why an SMSC refuses a message for good. */
export type RefusalReason =
  'network_refused' | 'invalid_destination' | 'invalid_sender' | 'invalid_content' | 'not_permitted';

/** A delivery report as the provider gave it. */
export interface DeliveryReport {
  /** As the submit's answer had it, after the route's rule; '' where the report names none. */
  providerMessageId: string;
  /** The id read in the other way that the route's rule allows, tried where the first meets no part. */
  alternativeId?: string | null;
  /** Our reference, where the provider returns it. */
  reference: string | null;
  /** Whom the report speaks of, E.164 with plus. */
  phone?: string | null;
  state: ReportState;
  /** The network's own. */
  errorCode: string | null;
  /** The report as it came, without the message's text; at most 300 characters. */
  details?: string | null;
}

/** What a network says of a number (v2.3.0, HlrResult). */
export const LOOKUP_STATUSES = ['active', 'inactive', 'invalid', 'unknown'] as const;
export type LookupStatus = (typeof LOOKUP_STATUSES)[number];

/** What a provider found out about a number; null where it does not say. */
export interface LookupFinding {
  status: LookupStatus;
  network: string | null;
  /** Mobile country code, three digits. */
  mcc: string | null;
  /** Mobile network code, two or three digits. */
  mnc: string | null;
  ported: boolean | null;
}

/** How a provider answers a look-up: with a finding, with an error of its own, or not in time. */
export type LookupAnswer = ({ kind: 'found' } & LookupFinding) | { kind: 'failed' } | { kind: 'timed_out' };

/** A look-up, as far as its workflow is started with it. */
export interface StartableLookup {
  id: string;
  accountId: string;
  route: string;
}

/** Why the account is refunded: what the provider said, or that no workflow took it up while its caller waited (`abandoned`). */
export type LookupFailure = 'failed' | 'timed_out' | 'abandoned';

/** Where a look-up stands; says nothing of the number, so it may stand in a workflow's history. */
export type LookupState =
  { state: 'charged' | 'done'; reason: null } | { state: 'failed'; reason: LookupFailure };
