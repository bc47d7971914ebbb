/** What went wrong, as data; its Polish sentence is made in `texts.ts` when the answer is written. */
export type Problem =
  | {
      reason:
        'key_missing' | 'key_invalid' | 'account_suspended' | 'account_closed' | 'test_key_on_live_account';
    }
  | { reason: 'scope_missing'; scope: string }
  | { reason: 'rate_limited'; seconds: number }
  | { reason: 'route_unknown' | 'resource_unknown' | 'message_unknown' }
  | { reason: 'group_unknown'; group: string }
  | { reason: 'method_not_allowed'; method: string; allowed: readonly string[] }
  | { reason: 'too_large'; limitBytes: number }
  | { reason: 'content_type_unsupported' | 'charset_unsupported' | 'content_encoding_unsupported' }
  | { reason: 'host_missing' | 'expectation_unsupported' }
  | { reason: 'request_malformed' | 'headers_too_large' | 'request_too_slow' | 'body_aborted' }
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
  | { reason: 'recipient_malformed'; index: number | null }
  | { reason: 'recipients_empty' }
  | { reason: 'recipients_too_many'; limit: number }
  | { reason: 'recipient_unverified'; index: number | null }
  | { reason: 'sender_inactive'; sender: string }
  | { reason: 'text_too_long'; parts: number; limit: number }
  | { reason: 'instant_malformed' | 'window_malformed'; field: string }
  | {
      reason:
        | 'send_at_too_far'
        | 'expires_at_out_of_range'
        | 'settings_empty'
        | 'prefix_malformed'
        | 'prefix_taken';
    }
  | { reason: 'insufficient_funds' | 'statement_overdue' }
  | { reason: 'not_cancellable' }
  | { reason: 'cursor_malformed' }
  | { reason: 'url_malformed' | 'url_scheme' | 'url_credentials' | 'url_private' }
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
    this.param = options.param ?? null;
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

/** 402: nothing was sent, nothing charged. */
export function paymentRequired(reason: 'insufficient_funds' | 'statement_overdue'): ApiError {
  return new ApiError(402, 'insufficient_funds', { reason });
}

/** 502, or 504 when time ran out: something behind the API does not answer. */
export function providerError(
  status: 502 | 504,
  reason: 'unavailable' | 'timed_out' | 'send_abandoned' | 'send_unresolved',
  cause?: unknown,
): ApiError {
  return new ApiError(status, 'provider_error', { reason }, { cause });
}
