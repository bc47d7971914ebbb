import type { QuotaName } from '../../domain/quotas.ts';

/** What went wrong, as data; its Polish sentence is made in `texts.ts` when the answer is written. */
export type Problem =
  | {
      reason:
        'key_missing' | 'key_invalid' | 'account_suspended' | 'account_closed' | 'test_key_on_live_account';
    }
  | { reason: 'scope_missing'; scope: string }
  | { reason: 'rate_limited'; seconds: number }
  | { reason: 'too_many_at_once' | 'too_many_heavy_at_once'; limit: number }
  | { reason: 'route_unknown' | 'resource_unknown' | 'message_unknown' }
  | { reason: 'group_unknown' | 'group_empty'; group: string }
  | { reason: 'groups_too_many'; limit: number }
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
  | { reason: 'field_repeated'; field: string }
  | { reason: 'body_missing' | 'body_not_utf8' | 'body_not_json' | 'body_not_object' }
  | { reason: 'field_missing' | 'field_unknown' | 'field_malformed'; field: string }
  | { reason: 'parameter_unknown' | 'query_repeated' | 'plus_not_encoded'; field: string }
  | { reason: 'sender_malformed'; field: string }
  | { reason: 'field_type'; field: string; expected: string }
  | {
      reason: 'field_too_short' | 'field_too_long';
      field: string;
      limit: number;
      unit: 'characters' | 'items';
    }
  | { reason: 'number_out_of_range'; field: string; min: number; max: number }
  | { reason: 'one_of'; field: string; values: readonly string[] }
  | { reason: 'characters_forbidden'; field: string }
  | { reason: 'idempotency_key_length' | 'idempotency_key_repeated' }
  | { reason: 'idempotency_other_content' | 'idempotency_in_progress' }
  | { reason: 'recipient_malformed' | 'recipient_too_long'; index: number | null }
  | { reason: 'number_malformed' | 'polish_number_too_long'; field: string }
  | { reason: 'recipients_empty' }
  | { reason: 'recipients_too_many'; limit: number }
  | { reason: 'recipient_unverified'; index: number | null }
  | { reason: 'no_route'; index: number | null }
  | { reason: 'sender_inactive'; sender: string }
  | { reason: 'text_too_long'; parts: number; limit: number; index: number | null }
  | { reason: 'text_empty' | 'text_blank'; index: number | null }
  | { reason: 'link_malformed' | 'placeholder_malformed'; source: string; position: number }
  | { reason: 'links_too_many' | 'placeholders_too_many'; limit: number }
  | { reason: 'template_unknown' | 'template_not_sms' | 'params_without_template' }
  | { reason: 'params_repeated'; key: string }
  | { reason: 'instant_malformed' | 'window_malformed'; field: string }
  | {
      reason:
        | 'send_at_too_far'
        | 'expires_at_out_of_range'
        | 'settings_empty'
        | 'prefix_malformed'
        | 'prefix_reserved'
        | 'prefix_everyday'
        | 'prefix_resting'
        | 'prefix_changes'
        | 'prefix_taken';
    }
  | { reason: 'insufficient_funds' | 'statement_overdue' }
  | {
      reason:
        | 'lookup_unverified'
        | 'lookup_unpaid'
        | 'lookup_failed'
        | 'lookup_no_route'
        | 'lookup_timed_out'
        | 'lookup_abandoned'
        | 'lookup_unresolved';
    }
  | { reason: 'not_cancellable' }
  | { reason: 'contact_unknown' | 'contact_not_in_group' | 'contact_number_taken' | 'contact_not_object' }
  | { reason: 'contacts_too_many' | 'members_too_many' | 'fields_too_many'; limit: number }
  | { reason: 'quota_reached'; quota: QuotaName; limit: number }
  | { reason: 'members_missing' }
  | { reason: 'field_key_malformed' | 'field_key_reserved' | 'field_key_repeated'; key: string }
  | { reason: 'field_value_malformed'; key: string; limit: number }
  | { reason: 'group_exists'; group: string }
  | { reason: 'group_name_like_id' }
  | { reason: 'csv_malformed'; line: number | null }
  | { reason: 'csv_column_repeated'; column: string }
  | { reason: 'csv_columns_too_many'; limit: number }
  | { reason: 'cursor_malformed' }
  | { reason: 'search_too_long'; limit: number }
  | { reason: 'day_malformed'; field: string }
  | { reason: 'period_reversed' }
  | { reason: 'period_too_long'; limit: number }
  | { reason: 'field_exclusive'; field: string; other: string }
  | { reason: 'instant_past'; field: string }
  | { reason: 'number_not_listed' }
  | { reason: 'link_unknown' }
  | { reason: 'inbound_unknown' }
  | { reason: 'event_unknown' | 'event_under_way' | 'webhook_missing' }
  | { reason: 'resends_used_up' | 'resends_under_way'; limit: number }
  | { reason: 'template_subject' | 'template_empty' }
  | {
      reason:
        'url_malformed' | 'url_scheme' | 'url_credentials' | 'url_fragment' | 'url_port' | 'url_private';
    }
  | { reason: 'unavailable' | 'timed_out' | 'send_abandoned' | 'send_unresolved' | 'internal' };

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

// A name of the caller's own may be as long as a request line; ours are short.
const PARAM_MAX = 256;

/** An answer that is not a success; whoever finds the reason throws it, the error envelope is written in one place. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: ErrorCode;
  readonly problem: Problem;
  readonly param: string | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: ErrorCode,
    problem: Problem,
    options: { param?: string | undefined; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(problem.reason, options.cause === undefined ? undefined : { cause: options.cause });
    this.status = status;
    this.code = code;
    this.problem = problem;
    this.param = options.param?.slice(0, PARAM_MAX) ?? null;
    this.headers = options.headers ?? {};
  }
}

/** 400: `param` names the field. */
export function invalidRequest(problem: Problem, param?: string): ApiError {
  return new ApiError(400, 'invalid_request', problem, { param });
}

/** 403. */
export function forbidden(problem: Problem, param?: string): ApiError {
  return new ApiError(403, 'forbidden', problem, { param });
}

/** 404. */
export function notFound(problem: Problem, param?: string): ApiError {
  return new ApiError(404, 'not_found', problem, { param });
}

/** 429: `Retry-After` tells when to come back. @param seconds whole, at least 1 */
export function rateLimited(problem: Problem, seconds: number): ApiError {
  return new ApiError(429, 'rate_limited', problem, { headers: { 'Retry-After': String(seconds) } });
}

/** 402: nothing was sent, nothing charged. */
export function paymentRequired(reason: 'insufficient_funds' | 'statement_overdue'): ApiError {
  return new ApiError(402, 'insufficient_funds', { reason });
}

/** 502, or 504 when time ran out: something behind the API does not answer. */
export function providerError(
  status: 502 | 504,
  reason:
    | 'unavailable'
    | 'timed_out'
    | 'send_abandoned'
    | 'send_unresolved'
    | 'lookup_failed'
    | 'lookup_no_route'
    | 'lookup_timed_out'
    | 'lookup_abandoned'
    | 'lookup_unresolved',
  cause?: unknown,
): ApiError {
  return new ApiError(status, 'provider_error', { reason }, { cause });
}
