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
