import { type Refusal, RefusalError, Refused } from '../../domain/refusals.ts';
import { outageOf } from '../../operations/outages.ts';

/** Refusals by the HTTP layer: key, route, headers, body. */
export type HttpRefusal =
  | { reason: 'key_missing' | 'key_invalid' }
  | { reason: 'route_unknown' | 'resource_unknown' }
  | { reason: 'method_not_allowed'; method: string; allowed: readonly string[] }
  | { reason: 'too_large'; limitBytes: number }
  | { reason: 'content_type_unsupported'; types: readonly string[] }
  | { reason: 'charset_unsupported' | 'content_encoding_unsupported' }
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
  | { reason: 'body_missing' | 'body_not_utf8' | 'body_not_json' | 'csv_not_utf8' }
  | { reason: 'idempotency_key_length' | 'idempotency_key_repeated' }
  | { reason: 'csv_malformed'; line: number | null }
  | { reason: 'csv_column_repeated'; column: string }
  | { reason: 'csv_columns_too_many'; limit: number }
  | { reason: 'internal' };

/** A refusal as data; `texts.ts` has its Polish message. */
export type Problem = Refusal | (HttpRefusal & { given?: string });

export type Reason = Problem['reason'];

export class HttpRefused extends RefusalError<HttpRefusal> {
  override readonly name = 'HttpRefused';
}

/** Error codes by status (v2.3.0, Errors; 405, 413, 415 and 500 are ours). The second code of 409 is for idempotency keys. */
export const CODES = {
  400: ['invalid_request'],
  401: ['unauthorized'],
  402: ['insufficient_funds'],
  403: ['forbidden'],
  404: ['not_found'],
  405: ['method_not_allowed'],
  408: ['invalid_request'],
  409: ['invalid_request', 'idempotency_conflict'],
  413: ['payload_too_large'],
  415: ['unsupported_media_type'],
  417: ['invalid_request'],
  422: ['invalid_request'],
  429: ['rate_limited'],
  431: ['invalid_request'],
  500: ['internal_error'],
  502: ['provider_error'],
  503: ['provider_error'],
  504: ['provider_error'],
} as const satisfies Readonly<Record<number, readonly string[]>>;

export type Status = keyof typeof CODES;
export type ErrorCode = (typeof CODES)[Status][number];

/** Status by reason; 400 for all others (v2.3.0, Errors). */
export const STATUSES: Readonly<Partial<Record<Reason, Status>>> = {
  key_missing: 401,
  key_invalid: 401,
  insufficient_funds: 402,
  statement_overdue: 402,
  lookup_unpaid: 402,
  account_suspended: 403,
  account_closed: 403,
  account_not_migrated: 403,
  address_not_own: 403,
  test_key_on_live_account: 403,
  scope_missing: 403,
  recipient_unverified: 403,
  lookup_unverified: 403,
  tool_budget_reached: 403,
  route_unknown: 404,
  resource_unknown: 404,
  message_unknown: 404,
  group_unknown: 404,
  template_unknown: 404,
  contact_unknown: 404,
  contact_not_in_group: 404,
  number_not_listed: 404,
  link_unknown: 404,
  inbound_unknown: 404,
  event_unknown: 404,
  email_unknown: 404,
  verification_unknown: 404,
  address_not_listed: 404,
  method_not_allowed: 405,
  request_too_slow: 408,
  not_cancellable: 409,
  verification_over: 409,
  contact_number_taken: 409,
  group_exists: 409,
  prefix_reserved: 409,
  prefix_everyday: 409,
  prefix_resting: 409,
  prefix_changes: 409,
  prefix_taken: 409,
  webhook_missing: 409,
  event_pending: 409,
  resends_used_up: 409,
  sender_known: 409,
  sender_requests_too_many: 409,
  idempotency_other_content: 409,
  idempotency_in_progress: 409,
  too_large: 413,
  content_type_unsupported: 415,
  charset_unsupported: 415,
  content_encoding_unsupported: 415,
  expectation_unsupported: 417,
  sender_inactive: 422,
  sender_not_number: 422,
  no_route: 422,
  recipient_not_mobile: 422,
  recipient_blacklisted: 422,
  foreign_price_missing: 422,
  calling_hours_missed: 422,
  sender_domain_missing: 422,
  sender_domain_unverified: 422,
  rate_limited: 429,
  too_many_at_once: 429,
  too_many_heavy_at_once: 429,
  resends_at_once: 429,
  changes_too_many: 429,
  codes_too_many: 429,
  headers_too_large: 431,
  internal: 500,
  unavailable: 502,
  lookup_failed: 502,
  lookup_no_route: 502,
  email_no_route: 503,
  backlog_full: 503,
  timed_out: 504,
  lookup_timed_out: 504,
};

// Expected states: staff disable routes, and a backlog has its own alert.
const NO_FAULT: ReadonlySet<Reason> = new Set(['email_no_route', 'lookup_no_route', 'backlog_full']);

/** Whether a problem is a fault of the service or of its dependencies, which staff must look into. */
export function isFault(problem: Problem): boolean {
  return statusOf(problem) >= 500 && !NO_FAULT.has(problem.reason);
}

/** The status of a problem (v2.3.0, Errors). */
export function statusOf(problem: Problem): Status {
  return STATUSES['outage' in problem ? problem.outage : problem.reason] ?? 400;
}

function codeOf(problem: Problem): ErrorCode {
  const { reason } = problem;
  if (reason === 'idempotency_other_content' || reason === 'idempotency_in_progress')
    return 'idempotency_conflict';
  return CODES[statusOf(problem)][0];
}

export interface ErrorAnswer {
  status: number;
  code: ErrorCode;
  problem: Problem;
  param: string | null;
  headers: Readonly<Record<string, string>>;
  cause: unknown;
}

// Names that callers choose may be as long as a request line; ours are short.
const PARAM_MAX = 256;

/** Maps any thrown value to an error response: refusals, outages of dependencies, and anything else as an internal error. */
export function errorAnswer(thrown: unknown): ErrorAnswer {
  if (thrown instanceof Refused || thrown instanceof HttpRefused) {
    const { refusal: problem, param, cause } = thrown;
    return answerOf(problem, param, cause ?? thrown);
  }
  return answerOf({ reason: outageOf(thrown) ?? 'internal' }, null, thrown);
}

function answerOf(problem: Problem, param: string | null, cause: unknown): ErrorAnswer {
  const answer = { status: statusOf(problem), code: codeOf(problem), headers: headersOf(problem) };
  return { ...answer, problem, param: param?.slice(0, PARAM_MAX) ?? null, cause };
}

function headersOf(problem: Problem): Record<string, string> {
  if (problem.reason === 'method_not_allowed') return { Allow: problem.allowed.join(', ') };
  // The rest of the body is not read.
  if (problem.reason === 'too_large') return { Connection: 'close' };
  if (statusOf(problem) === 401) return { 'WWW-Authenticate': 'Bearer' };
  return 'seconds' in problem ? { 'Retry-After': String(problem.seconds) } : {};
}
