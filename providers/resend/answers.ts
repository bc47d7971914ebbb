import type { EmailAnswer, EmailRefusal } from '../email.ts';
import { type Exchange, isRecord } from '../http.ts';

const ERROR_NAME = /^[a-z][a-z_]{0,59}$/;
const MESSAGE_MAX = 1_000;
/** A field of the request, as it writes them: `` `to` ``, `` `html` or `text` ``. */
const FIELD = /`[a-z][a-z_.[\]0-9]{0,59}`/;

/** What the provider says is wrong (https://resend.com/docs/api-reference/errors): `{ statusCode, name, message }`. */
interface ProviderError {
  name: string;
  /** May hold addresses: to be read, neither logged nor stored. */
  message: string;
}

/** The error in an answer's body; null when this is no error of the provider's, but of something before it. */
export function errorOf(json: unknown): ProviderError | null {
  if (!isRecord(json)) return null;
  const { name, message } = json;
  if (typeof name !== 'string' || !ERROR_NAME.test(name)) return null;
  return named({ name, message: typeof message === 'string' ? message.slice(0, MESSAGE_MAX) : '' });
}

/**
 * A key that is wrong or revoked it calls `validation_error` too, with 400 or 401 (https://github.com/resend/resend-node/pull/617). Where it
 * may not send from one domain (`API key is not authorized to send emails from …`), the sender is at fault.
 */
function named(error: ProviderError): ProviderError {
  const isOfKey = error.name === 'validation_error' && /\bapi key\b(?!.*\bfrom\b)/is.test(error.message);
  return isOfKey && !FIELD.test(error.message) ? { ...error, name: 'invalid_api_key' } : error;
}

/** Whether it is about the API key, which is the same for all e-mails. */
const blamesKey = ({ name }: ProviderError): boolean => name.endsWith('_api_key');

/** A short name of an answer that is no success, for staff. */
export function codeOf(status: number, json: unknown): string {
  return errorOf(json)?.name ?? `http_${status}`;
}

const QUOTAS = new Set(['daily_quota_exceeded', 'monthly_quota_exceeded']);

/** Whether the account has sent all that it may for a day or a month. */
export const isQuota = (name: string): boolean => QUOTAS.has(name);

const REFUSED: Readonly<Record<string, EmailRefusal>> = {
  invalid_from_address: 'sender_refused',
  invalid_to_address: 'sender_refused', // only its own address may be written to while there is no domain
  invalid_attachment: 'content_refused',
  security_error: 'provider_refused',
};

/** Errors that speak of fields of the request. */
const OF_FIELDS = new Set(['validation_error', 'missing_required_field', 'invalid_parameter']);

/**
 * Why an e-mail is refused that the provider answers 400 or 422 for. Which field is meant, only the words say:
 * ``Invalid `to` field. …``.
 */
function refusalOf({ name, message }: ProviderError): EmailRefusal {
  const known = Object.hasOwn(REFUSED, name) ? REFUSED[name] : undefined;
  if (known !== undefined) return known;
  if (!OF_FIELDS.has(name)) return 'provider_refused';
  if (/`from`|\bdomain is not verified\b|\bsend emails from\b/i.test(message)) return 'sender_refused';
  return /`(to|cc|bcc)`/i.test(message) ? 'recipients_refused' : 'content_refused';
}

/** Errors that are about what the e-mail itself says, whatever their words. */
const OF_CONTENT = new Set(['missing_required_field', 'invalid_attachment']);

/** Whether it says what of the e-mail is wrong: that is the same at each try. */
function saysWhatIsWrong({ name, message }: ProviderError): boolean {
  return OF_CONTENT.has(name) || (OF_FIELDS.has(name) && FIELD.test(message));
}

/** Errors of 403 that blame the sender's domain rather than the key: it is not verified, or the account has none. */
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

/** A code for staff's eyes, in words where it is the account that ails. */
export function inWords(code: string): string {
  const words = Object.hasOwn(WORDS, code) ? WORDS[code] : undefined;
  return words === undefined ? code : `${words} (${code})`;
}

const EMAIL_ID = /^[\x21-\x7e]{1,100}$/;
const THROTTLED_MS = 1_000;
const LONGEST_WAIT_S = 300;
/** While the first request with the same key is still under way. */
const CONCURRENT_MS = 1_500;
const UNREADABLE_MS = 10_000;

/** The provider took an e-mail with another body under its key: what became of that one, no answer will say. */
export const OTHER_BODY = 'invalid_idempotent_request';
/** What was to be sent could not be read. */
export const UNREADABLE = 'content_unreadable';

/**
 * Reads the answer to `POST /emails`: `{ id }`, or an error. Never throws: what cannot be understood leaves open whether the e-mail
 * was taken.
 */
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

/**
 * What another status says. Without an error of the provider's a redirect or a 4xx comes from something before it that did not take
 * the request; after a 5xx, a conflict or a time-out at a proxy (408) it may have been taken.
 */
function failureOf(exchange: Exchange & { kind: 'answered' }): EmailAnswer {
  const { status, json, headers } = exchange;
  const code = codeOf(status, json);
  const error = errorOf(json);
  if (status === 429) {
    if (error !== null && isQuota(error.name)) return { kind: 'broken', code };
    return { kind: 'throttled', retryAfterMs: waitOf(headers) ?? THROTTLED_MS, code };
  }
  if (status === 409) return conflictOf(code);
  if (status >= 500 || status === 408) return { kind: 'unanswered', code };
  if (status === 413) return { kind: 'refused', reason: 'content_refused', code };
  return error === null ? { kind: 'broken', code } : judged(status, error);
}

function conflictOf(code: string): EmailAnswer {
  if (code === 'concurrent_idempotent_requests') return { kind: 'later', retryAfterMs: CONCURRENT_MS, code };
  return { kind: 'unanswered', code, ...(code === OTHER_BODY ? { final: true } : {}) };
}

/**
 * Whether an e-mail itself may be why it has no proper answer: what stands before the provider (a firewall, a proxy) judges by what it
 * reads, and answers without an error of the provider's.
 */
export function mayBeTheEmail(exchange: Exchange, answer: EmailAnswer): boolean {
  if (answer.kind === 'unanswered') return true;
  return exchange.kind === 'answered' && errorOf(exchange.json) === null;
}

/** A wrong key, or an address that is not the provider's interface (404, 405), speaks of the route; the rest of the one e-mail. */
function judged(status: number, error: ProviderError): EmailAnswer {
  const code = error.name;
  if (status === 403 && blamesSender(error)) return { kind: 'refused', reason: 'sender_refused', code };
  // The form of our keys is always the same: the fault is not in this e-mail.
  if (blamesKey(error) || code === 'invalid_idempotency_key') return { kind: 'broken', code };
  if (status === 400 || status === 422 || status === 451) {
    const reason = refusalOf(error);
    const always = reason !== 'sender_refused' && saysWhatIsWrong(error);
    return { kind: 'refused', reason, code, ...(always ? { always: true } : {}) };
  }
  return { kind: 'broken', code };
}

/**
 * How long the provider wants to be left alone, in ms, from a second to five minutes (`retry-after` in seconds or as a date, RFC
 * 9110, 10.2.3; else `ratelimit-reset`, in seconds). Null when it does not say.
 */
export function waitOf(headers: Readonly<Record<string, string>>): number | null {
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
