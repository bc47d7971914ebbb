import { type Outage, type Refusal, RefusalError, Refused } from '../../domain/refusals.ts';
import { outageOf } from '../../operations/outages.ts';

/** What is wrong with a request before anybody knows what it asks for: its key, its lines, its bytes. */
export type HttpRefusal =
  | { reason: 'key_missing' | 'key_invalid' }
  | { reason: 'route_unknown' | 'resource_unknown' }
  | { reason: 'method_not_allowed'; method: string; allowed: readonly string[] }
  | { reason: 'too_large'; limitBytes: number }
  | { reason: 'content_type_unsupported' | 'charset_unsupported' | 'content_encoding_unsupported' }
  | { reason: 'host_missing' | 'expectation_unsupported' }
  | { reason: 'request_malformed' | 'headers_too_large' | 'request_too_slow' | 'body_aborted' }
  | {
      reason:
        | 'body_too_deep'
        | 'body_too_many_keys'
        | 'body_too_many_items'
        | 'body_too_many_values'
        | 'key_too_long'
        | 'csv_header_too_wide';
      limit: number;
    }
  | { reason: 'field_repeated' | 'query_repeated'; field: string }
  | { reason: 'body_missing' | 'body_not_utf8' | 'body_not_json' }
  | { reason: 'idempotency_key_length' | 'idempotency_key_repeated' }
  | { reason: 'csv_malformed'; line: number | null }
  | { reason: 'csv_column_repeated'; column: string }
  | { reason: 'csv_columns_too_many'; limit: number }
  | { reason: 'internal' };

/** What went wrong, as data; its Polish sentence is made in `texts.ts` when the answer is written. */
export type Problem = Refusal | HttpRefusal;

/** Why, in one word of ours. */
export type Reason = Problem['reason'];

/** As {@link Refused}, for what only HTTP knows. */
export class HttpRefused extends RefusalError<HttpRefusal> {
  override readonly name = 'HttpRefused';
}

/** Codes of the interface (v2.3.0, Errors) and ours beyond them: 405, 413, 415, 500. */
export type ErrorCode =
  | 'invalid_request'
  | 'unauthorized'
  | 'insufficient_funds'
  | 'forbidden'
  | 'not_found'
  | 'idempotency_conflict'
  | 'rate_limited'
  | 'provider_error'
  | 'method_not_allowed'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'internal_error';

/** How a refusal is answered. */
interface Kind {
  status: number;
  code: ErrorCode;
}

const MALFORMED: Kind = { status: 400, code: 'invalid_request' };
const UNPAID: Kind = { status: 402, code: 'insufficient_funds' };
const FORBIDDEN: Kind = { status: 403, code: 'forbidden' };
const UNKNOWN: Kind = { status: 404, code: 'not_found' };
const CONTRADICTS: Kind = { status: 409, code: 'invalid_request' };
const KEY_IN_USE: Kind = { status: 409, code: 'idempotency_conflict' };
const TOO_OFTEN: Kind = { status: 429, code: 'rate_limited' };
const UNAVAILABLE: Kind = { status: 502, code: 'provider_error' };
const TIMED_OUT: Kind = { status: 504, code: 'provider_error' };
const other = (status: number, code: ErrorCode = 'invalid_request'): Kind => ({ status, code });

/** Every refusal that is no 400 (v2.3.0, Errors), by its reason. */
export const KINDS: Readonly<Partial<Record<Reason, Kind>>> = {
  key_missing: other(401, 'unauthorized'),
  key_invalid: other(401, 'unauthorized'),
  insufficient_funds: UNPAID,
  statement_overdue: UNPAID,
  lookup_unpaid: UNPAID,
  account_suspended: FORBIDDEN,
  account_closed: FORBIDDEN,
  account_not_migrated: FORBIDDEN,
  test_key_on_live_account: FORBIDDEN,
  scope_missing: FORBIDDEN,
  recipient_unverified: FORBIDDEN,
  lookup_unverified: FORBIDDEN,
  address_not_own: FORBIDDEN,
  tool_budget_reached: FORBIDDEN,
  route_unknown: UNKNOWN,
  resource_unknown: UNKNOWN,
  message_unknown: UNKNOWN,
  group_unknown: UNKNOWN,
  template_unknown: UNKNOWN,
  contact_unknown: UNKNOWN,
  contact_not_in_group: UNKNOWN,
  number_not_listed: UNKNOWN,
  link_unknown: UNKNOWN,
  inbound_unknown: UNKNOWN,
  event_unknown: UNKNOWN,
  email_unknown: UNKNOWN,
  address_not_listed: UNKNOWN,
  method_not_allowed: other(405, 'method_not_allowed'),
  request_too_slow: other(408),
  not_cancellable: CONTRADICTS,
  contact_number_taken: CONTRADICTS,
  group_exists: CONTRADICTS,
  prefix_reserved: CONTRADICTS,
  prefix_everyday: CONTRADICTS,
  prefix_resting: CONTRADICTS,
  prefix_changes: CONTRADICTS,
  prefix_taken: CONTRADICTS,
  webhook_missing: CONTRADICTS,
  event_pending: CONTRADICTS,
  resends_used_up: CONTRADICTS,
  idempotency_other_content: KEY_IN_USE,
  idempotency_in_progress: KEY_IN_USE,
  too_large: other(413, 'payload_too_large'),
  content_type_unsupported: other(415, 'unsupported_media_type'),
  charset_unsupported: other(415, 'unsupported_media_type'),
  content_encoding_unsupported: other(415, 'unsupported_media_type'),
  expectation_unsupported: other(417),
  sender_inactive: other(422),
  sender_not_number: other(422),
  no_route: other(422),
  foreign_price_missing: other(422),
  calling_hours_missed: other(422),
  sender_domain_missing: other(422),
  sender_domain_unverified: other(422),
  rate_limited: TOO_OFTEN,
  too_many_at_once: TOO_OFTEN,
  too_many_heavy_at_once: TOO_OFTEN,
  resends_at_once: TOO_OFTEN,
  changes_too_many: TOO_OFTEN,
  headers_too_large: other(431),
  internal: other(500, 'internal_error'),
  unavailable: UNAVAILABLE,
  lookup_failed: UNAVAILABLE,
  lookup_no_route: UNAVAILABLE,
  email_no_route: other(503, 'provider_error'),
  backlog_full: other(503, 'provider_error'),
  timed_out: TIMED_OUT,
  lookup_timed_out: TIMED_OUT,
};

// These are answered by what went wrong behind the API.
const BY_OUTAGE: Readonly<Record<Outage, Kind>> = { unavailable: UNAVAILABLE, timed_out: TIMED_OUT };
const WITH_OUTAGE: Readonly<Record<Extract<Problem, { outage: Outage }>['reason'], true>> = {
  send_abandoned: true,
  send_unresolved: true,
  lookup_abandoned: true,
  lookup_unresolved: true,
};

// No request has met a fault: staff decide on routes, and an alert tells of a backlog.
const NO_FAULT: ReadonlySet<Reason> = new Set(['email_no_route', 'lookup_no_route', 'backlog_full']);

/** Whether a problem is a fault of the service or of what stands behind it, which somebody has to look at. */
export function isFault(problem: Problem): boolean {
  return kindOf(problem).status >= 500 && !NO_FAULT.has(problem.reason);
}

/** The status and code of a problem (v2.3.0, Errors). */
export function kindOf(problem: Problem): Kind {
  if ('outage' in problem) return BY_OUTAGE[problem.outage];
  return KINDS[problem.reason] ?? MALFORMED;
}

/** Every status that a refusal for this reason may be answered with. */
export function statusesOf(reason: Reason): number[] {
  const kinds = reason in WITH_OUTAGE ? Object.values(BY_OUTAGE) : [KINDS[reason] ?? MALFORMED];
  return kinds.map(({ status }) => status);
}

/** An answer that is not a success, as it is written into the envelope. */
export interface ErrorAnswer extends Kind {
  problem: Problem;
  param: string | null;
  headers: Readonly<Record<string, string>>;
  cause: unknown;
}

// A name of the caller's own may be as long as a request line; ours are short.
const PARAM_MAX = 256;

/** How whatever was thrown is answered: a refusal as what it is, an outage of what stands behind the API as one, all else as a fault of ours. */
export function errorAnswer(thrown: unknown): ErrorAnswer {
  if (thrown instanceof Refused || thrown instanceof HttpRefused) {
    const { refusal: problem, param, cause } = thrown;
    return {
      ...kindOf(problem),
      problem,
      param: param?.slice(0, PARAM_MAX) ?? null,
      headers: headersOf(problem),
      cause: cause ?? thrown,
    };
  }
  const problem: Problem = { reason: outageOf(thrown) ?? 'internal' };
  return { ...kindOf(problem), problem, param: null, headers: {}, cause: thrown };
}

function headersOf(problem: Problem): Record<string, string> {
  if (problem.reason === 'method_not_allowed') return { Allow: problem.allowed.join(', ') };
  // What is left of the body is not read.
  if (problem.reason === 'too_large') return { Connection: 'close' };
  if (kindOf(problem).status === 401) return { 'WWW-Authenticate': 'Bearer' };
  return 'seconds' in problem ? { 'Retry-After': String(problem.seconds) } : {};
}
