import type { Channel } from '../../domain/channelNames.ts';
import type { SubmitAnswer } from '../../domain/submission.ts';
import type { ReportState } from '../../domain/deliveryReports.ts';
import { isRecord } from '../http.ts';
import { answerOfError } from './errorCodes.ts';
import type { Exchange } from './http.ts';
import { finalStateOf } from './statuses.ts';

const MESSAGE_ID = /^[\x21-\x7e]{1,64}$/;
const THROTTLED_MS = 1_000;
const LONGEST_WAIT_S = 300;

/** An answer to a submit, with what else it says. */
export interface ReadAnswer {
  answer: SubmitAnswer;
  /** Into how many parts the provider cut an SMS; null where it does not say. */
  parts: number | null;
  /** The message's end, where the answer names it already. */
  ended: ReportState | null;
}

/**
 * Reads the answer to `POST /sms.do`, `/mms.do` or `/vms.do` (https://www.smsapi.pl/docs/#2-pojedynczy-sms): with `format=json`
 * `{ count, list: [{ id, points, number, status, idx, … }], parts }`, or `{ error, message }`. Never throws: what cannot be
 * understood leaves open whether the message was taken.
 *
 * @param channel what was submitted
 * @param overrides how the route reads single error codes
 */
export function readAnswer(
  exchange: Exchange,
  channel: Channel,
  overrides: Readonly<Record<string, string>>,
): ReadAnswer {
  const only = (answer: SubmitAnswer): ReadAnswer => ({ answer, parts: null, ended: null });
  if (exchange.kind === 'not_sent') return only({ kind: 'broken', code: exchange.code });
  if (exchange.kind === 'lost') return only({ kind: 'unanswered', code: exchange.code });
  if (exchange.status === 429) return only(answerOfStatus(exchange));
  const error = errorCodeOf(exchange.json);
  if (error !== null) return only(answerOfError(error, channel, overrides));
  if (exchange.status < 200 || exchange.status > 299) return only(answerOfStatus(exchange));

  const entry = firstEntry(exchange.json);
  const entryError = errorCodeOf(entry);
  if (entryError !== null) return only(answerOfError(entryError, channel, overrides));
  const id = entry?.['id'];
  const providerMessageId = typeof id === 'number' ? String(id) : id;
  if (typeof providerMessageId !== 'string' || !MESSAGE_ID.test(providerMessageId)) {
    return only({ kind: 'unanswered', code: 'not_understood' });
  }
  const status = entry?.['status'];
  return {
    answer: { kind: 'accepted', providerMessageId },
    parts: partsOf(exchange.json, entry),
    ended: typeof status === 'string' ? finalStateOf(status) : null,
  };
}

/** The error code of an answer, whatever its HTTP status; null when it names none. */
export function errorCodeOf(json: unknown): number | null {
  if (!isRecord(json)) return null;
  const code = json['error'];
  if (typeof code === 'number' && Number.isInteger(code) && code >= 0) return code;
  return typeof code === 'string' && /^[0-9]{1,5}$/.test(code) ? Number(code) : null;
}

/** The only entry of an answer's `list`; null when there is none. */
export function firstEntry(json: unknown): Record<string, unknown> | null {
  const list: unknown = isRecord(json) ? json['list'] : undefined;
  const first: unknown = Array.isArray(list) && list.length === 1 ? list[0] : undefined;
  return isRecord(first) ? first : null;
}

/**
 * What an HTTP status without an error code says (RFC 9110, 15). A redirect or a 4xx comes from whoever did not take the
 * request; after a 5xx, or a time-out at a proxy (408), it may have been taken.
 */
function answerOfStatus({ status, retryAfter }: Exchange & { kind: 'answered' }): SubmitAnswer {
  const code = `http_${status}`;
  if (status === 429) return { kind: 'throttled', retryAfterMs: waitOf(retryAfter), code };
  return status >= 300 && status < 500 && status !== 408 && status !== 409
    ? { kind: 'broken', code }
    : { kind: 'unanswered', code };
}

function waitOf(retryAfter: string | null): number {
  if (retryAfter === null || !/^[0-9]{1,6}$/.test(retryAfter)) return THROTTLED_MS;
  return Math.min(Math.max(Number(retryAfter), 1), LONGEST_WAIT_S) * 1000;
}

function partsOf(json: unknown, entry: Record<string, unknown> | null): number | null {
  const parts = Number((isRecord(json) ? json['parts'] : undefined) ?? entry?.['parts'] ?? NaN);
  return Number.isInteger(parts) && parts > 0 ? parts : null;
}
