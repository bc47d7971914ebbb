import type { EmailAnswer, EmailRefusal } from '../email.ts';
import { type Exchange, isRecord } from '../http.ts';

const ERROR_NAME = /^[a-z][a-z_]{0,59}$/;
const MESSAGE_MAX = 1_000;
// A field of the request as error messages quote it: `to`, `html` or `text`, with the backticks.
const FIELD = /`[a-z][a-z_.[\]0-9]{0,59}`/;

interface ProviderError {
  name: string;
  /** May contain addresses: never log or store it. */
  message: string;
}

/** Parses an error body; null when it is not the provider's own (from a proxy, for example). */
export function errorOf(json: unknown): ProviderError | null {
  if (!isRecord(json)) return null;
  const { name, message } = json;
  if (typeof name !== 'string' || !ERROR_NAME.test(name)) return null;
  return named({ name, message: typeof message === 'string' ? message.slice(0, MESSAGE_MAX) : '' });
}

// A wrong or revoked key is also called `validation_error`, with 400 or 401 (https://github.com/resend/resend-node/pull/617). A key that
// may not send from one domain (`API key is not authorized to send emails from …`) is the sender's fault.
function named(error: ProviderError): ProviderError {
  const isOfKey = error.name === 'validation_error' && /\bapi key\b(?!.*\bfrom\b)/is.test(error.message);
  return isOfKey && !FIELD.test(error.message) ? { ...error, name: 'invalid_api_key' } : error;
}

const blamesKey = ({ name }: ProviderError): boolean => name.endsWith('_api_key');

/** Short code of a failed answer, for staff. */
export function codeOf(status: number, json: unknown): string {
  return errorOf(json)?.name ?? `http_${status}`;
}

const QUOTAS = new Set(['daily_quota_exceeded', 'monthly_quota_exceeded']);

/** Whether the account's daily or monthly quota is used up. */
export const isQuota = (name: string): boolean => QUOTAS.has(name);

const REFUSED: Readonly<Record<string, EmailRefusal>> = {
  invalid_from_address: 'sender_refused',
  invalid_to_address: 'sender_refused', // without a domain only the account's own address is allowed
  invalid_attachment: 'content_refused',
  security_error: 'provider_refused',
};

const OF_FIELDS = new Set(['validation_error', 'missing_required_field', 'invalid_parameter']);

// Reason of a 400 or 422. Only the message tells which field is meant: "Invalid `to` field. …".
function refusalOf({ name, message }: ProviderError): EmailRefusal {
  const known = Object.hasOwn(REFUSED, name) ? REFUSED[name] : undefined;
  if (known !== undefined) return known;
  if (!OF_FIELDS.has(name)) return 'provider_refused';
  if (/`from`|\bdomain is not verified\b|\bsend emails from\b/i.test(message)) return 'sender_refused';
  return /`(to|cc|bcc)`/i.test(message) ? 'recipients_refused' : 'content_refused';
}

const OF_CONTENT = new Set(['missing_required_field', 'invalid_attachment']);

// An error that names what is wrong with the e-mail is the same at each attempt.
function saysWhatIsWrong({ name, message }: ProviderError): boolean {
  return OF_CONTENT.has(name) || (OF_FIELDS.has(name) && FIELD.test(message));
}

// Errors with 403 that blame the sender's domain, not the key: it is not verified, or the account has none.
function blamesSender({ name }: ProviderError): boolean {
  return name === 'validation_error' || REFUSED[name] === 'sender_refused';
}

const WORDS: Readonly<Record<string, string>> = {
  missing_api_key: 'wrong API key',
  invalid_api_key: 'wrong API key',
  suspended_api_key: 'the API key is suspended',
  restricted_api_key: 'the API key may not do this',
  daily_quota_exceeded: 'the account’s e-mails of a day are used up',
  monthly_quota_exceeded: 'the account’s e-mails of a month are used up',
};

/** A code for staff, explained when the account is at fault. */
export function describeCode(code: string): string {
  const words = Object.hasOwn(WORDS, code) ? WORDS[code] : undefined;
  return words === undefined ? code : `${words} (${code})`;
}

const EMAIL_ID = /^[\x21-\x7e]{1,100}$/;
const THROTTLED_MS = 1_000;
const LONGEST_WAIT_S = 300;
// The first request with the same key is still in progress.
const CONCURRENT_MS = 1_500;
const UNREADABLE_MS = 10_000;

/** The provider accepted another body under this idempotency key; what became of that e-mail stays unknown. */
export const KEY_REUSED = 'invalid_idempotent_request';
export const UNREADABLE = 'content_unreadable';

/** Reads the answer to `POST /emails`: `{ id }` or an error. Never throws; an answer that makes no sense is `unanswered`. */
export function readAnswer(exchange: Exchange): EmailAnswer {
  switch (exchange.kind) {
    case 'not_sent':
      return { kind: 'broken', code: exchange.code };
    case 'unreadable':
      return { kind: 'later', retryAfterMs: UNREADABLE_MS, code: UNREADABLE };
    case 'lost':
      return { kind: 'unanswered', code: exchange.code };
    case 'answered':
      return exchange.status >= 200 && exchange.status <= 299 ? takenAs(exchange.json) : failureOf(exchange);
  }
}

function takenAs(json: unknown): EmailAnswer {
  const id = isRecord(json) ? json['id'] : undefined;
  return typeof id === 'string' && EMAIL_ID.test(id)
    ? { kind: 'accepted', providerEmailId: id }
    : { kind: 'unanswered', code: 'not_understood' };
}

// Without an error of the provider, a redirect or 4xx comes from a proxy that did not pass the request on; after a 5xx, 409 or 408 the
// e-mail may have been accepted.
function failureOf(exchange: Exchange & { kind: 'answered' }): EmailAnswer {
  const { status, json, headers } = exchange;
  const code = codeOf(status, json);
  const error = errorOf(json);
  if (status === 429) {
    if (error !== null && isQuota(error.name)) return { kind: 'broken', code };
    return { kind: 'throttled', retryAfterMs: parseRetryAfterMs(headers) ?? THROTTLED_MS, code };
  }
  if (status === 409) return conflictOf(code);
  if (status >= 500 || status === 408) return { kind: 'unanswered', code };
  if (status === 413) return { kind: 'refused', reason: 'content_refused', code };
  return error === null ? { kind: 'broken', code } : judged(status, error);
}

function conflictOf(code: string): EmailAnswer {
  if (code === 'concurrent_idempotent_requests') return { kind: 'later', retryAfterMs: CONCURRENT_MS, code };
  return { kind: 'unanswered', code, ...(code === KEY_REUSED ? { final: true } : {}) };
}

/** Whether the e-mail may be the cause: a firewall before the provider filters by content, and answers without a provider error. */
export function mayBeTheEmail(exchange: Exchange, answer: EmailAnswer): boolean {
  if (answer.kind === 'unanswered') return true;
  return exchange.kind === 'answered' && errorOf(exchange.json) === null;
}

// A wrong key or URL (404, 405) is the route's fault; everything else is about this e-mail.
function judged(status: number, error: ProviderError): EmailAnswer {
  const code = error.name;
  if (status === 403 && blamesSender(error)) return { kind: 'refused', reason: 'sender_refused', code };
  // Our keys all have the same form, so the e-mail is not at fault.
  if (blamesKey(error) || code === 'invalid_idempotency_key') return { kind: 'broken', code };
  if (status === 400 || status === 422 || status === 451) {
    const reason = refusalOf(error);
    const always = reason !== 'sender_refused' && saysWhatIsWrong(error);
    return { kind: 'refused', reason, code, ...(always ? { always: true } : {}) };
  }
  return { kind: 'broken', code };
}

/** Milliseconds to wait, 1 s to 5 min, by `retry-after` (RFC 9110, 10.2.3) or `ratelimit-reset` (seconds). Null when neither is set. */
export function parseRetryAfterMs(headers: Readonly<Record<string, string>>): number | null {
  const seconds = secondsOf(headers['retry-after']) ?? secondsOf(headers['ratelimit-reset']);
  return seconds === null ? null : Math.min(Math.max(seconds, 1), LONGEST_WAIT_S) * 1000;
}

function secondsOf(value: string | undefined): number | null {
  if (value === undefined || value.length > 40) return null;
  if (/^[0-9]{1,9}(\.[0-9]{1,9})?$/.test(value)) return Number(value);
  if (!/^[A-Z][a-z]{2}, [0-9]{2} /.test(value)) return null;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.ceil((at - Date.now()) / 1000);
}
