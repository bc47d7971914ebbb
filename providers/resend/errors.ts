import type { EmailRefusal } from '../email.ts';
import { isRecord } from '../http.ts';

const ERROR_NAME = /^[a-z][a-z_]{0,59}$/;
const MESSAGE_MAX = 1_000;
/** A field of the request, as it writes them: `` `to` ``, `` `html` or `text` ``. */
const FIELD = /`[a-z][a-z_.[\]0-9]{0,59}`/;

/** What the provider says is wrong (https://resend.com/docs/api-reference/errors): `{ statusCode, name, message }`. */
export interface ProviderError {
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
export const blamesKey = ({ name }: ProviderError): boolean => name.endsWith('_api_key');

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
export function refusalOf({ name, message }: ProviderError): EmailRefusal {
  const known = Object.hasOwn(REFUSED, name) ? REFUSED[name] : undefined;
  if (known !== undefined) return known;
  if (!OF_FIELDS.has(name)) return 'provider_refused';
  if (/`from`|\bdomain is not verified\b|\bsend emails from\b/i.test(message)) return 'sender_refused';
  return /`(to|cc|bcc)`/i.test(message) ? 'recipients_refused' : 'content_refused';
}

/** Errors that are about what the e-mail itself says, whatever their words. */
const OF_CONTENT = new Set(['missing_required_field', 'invalid_attachment']);

/** Whether it says what of the e-mail is wrong: that is the same at each try. */
export function saysWhatIsWrong({ name, message }: ProviderError): boolean {
  return OF_CONTENT.has(name) || (OF_FIELDS.has(name) && FIELD.test(message));
}

/** Errors of 403 that blame the sender's domain rather than the key: it is not verified, or the account has none. */
export function blamesSender({ name }: ProviderError): boolean {
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
