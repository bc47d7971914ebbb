import type { Logger } from 'pino';
import { Refused } from '../../domain/refusals.ts';
import type { Endpoint } from './endpoint.ts';
import { HttpRefused, type Reason } from './refusals.ts';

/** Logged of a refusal that its endpoint does not list; the tests fail where it is. */
export const UNLISTED = 'an endpoint refused with a reason that it does not list';

// What every endpoint shares stands here once, by what is declared of it.
const ANY: readonly Reason[] = [
  ...(['request_malformed', 'headers_too_large', 'request_too_slow', 'host_missing'] as const),
  ...(['expectation_unsupported', 'method_not_allowed', 'query_repeated', 'parameter_unknown'] as const),
  ...(['internal', 'timed_out'] as const),
];
const WITH_KEY: readonly Reason[] = [
  ...(['key_missing', 'key_invalid', 'scope_missing', 'test_key_on_live_account'] as const),
  ...(['account_suspended', 'account_closed', 'unavailable'] as const),
  ...(['rate_limited', 'too_many_at_once', 'too_many_heavy_at_once'] as const),
];
const WITH_PARAMS: readonly Reason[] = ['resource_unknown'];
const WITH_BODY: readonly Reason[] = [
  ...(['content_type_unsupported', 'charset_unsupported', 'content_encoding_unsupported'] as const),
  ...(['too_large', 'body_missing', 'body_aborted', 'body_not_utf8', 'body_not_json'] as const),
  ...(['body_too_deep', 'body_too_many_keys', 'body_too_many_items', 'body_too_many_values'] as const),
  ...(['key_too_long', 'field_repeated', 'body_not_object'] as const),
];
// Of a body or a query. What a schema refuses beyond these follows from the schema.
const WITH_FIELDS: readonly Reason[] = [
  ...(['field_missing', 'field_unknown', 'field_type', 'field_malformed', 'one_of'] as const),
  ...(['field_too_short', 'field_too_long', 'characters_forbidden', 'number_out_of_range'] as const),
];
const WITH_IDEMPOTENCY: readonly Reason[] = [
  ...(['idempotency_key_length', 'idempotency_key_repeated'] as const),
  ...(['idempotency_other_content', 'idempotency_in_progress'] as const),
];

/** All that an endpoint may refuse with: what it lists, and what follows from its declaration. */
export function refusalsOf(endpoint: Endpoint): ReadonlySet<Reason> {
  const { scope, params, query, body, idempotent, refusals = [] } = endpoint;
  return new Set([
    ...ANY,
    ...(scope === null ? [] : WITH_KEY),
    ...(params === undefined ? [] : WITH_PARAMS),
    ...(body === undefined ? [] : WITH_BODY),
    ...(body === undefined && query === undefined ? [] : WITH_FIELDS),
    ...(idempotent ? WITH_IDEMPOTENCY : []),
    ...refusals,
  ]);
}

/**
 * Waits for an endpoint's own work. A refusal that the endpoint does not list is an omission in its description: it is
 * answered all the same, and logged.
 */
export async function watchRefusals<T>(endpoint: Endpoint, log: Logger, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Refused || error instanceof HttpRefused) {
      const { reason } = error.refusal;
      const { method, path: route } = endpoint;
      if (!refusalsOf(endpoint).has(reason)) log.error({ method, route, reason }, UNLISTED);
    }
    throw error;
  }
}
