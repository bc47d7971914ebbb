import { isFinalReport, type ReportState } from '../../domain/incoming.ts';
import type { Channel } from '../../domain/channelDeclaration.ts';
import type { RefusalReason, SubmitAnswer } from '../../domain/submission.ts';
import { type Exchange, isRecord } from '../http.ts';

// https://www.smsapi.pl/docs/#18-lista-statusow-doreczenia. `UNKNOWN` and `NOT_FOUND` (the report is gone) do not end a message.
const STATES: Readonly<Record<string, readonly [name: string, state: ReportState]>> = {
  '401': ['NOT_FOUND', 'unknown'],
  '402': ['EXPIRED', 'expired'],
  '403': ['SENT', 'enroute'],
  '404': ['DELIVERED', 'delivered'],
  '405': ['UNDELIVERED', 'undelivered'],
  '406': ['FAILED', 'rejected'],
  '407': ['REJECTED', 'rejected'],
  '408': ['UNKNOWN', 'unknown'],
  '409': ['QUEUE', 'enroute'],
  '410': ['ACCEPTED', 'accepted'],
  '411': ['RENEWAL', 'enroute'],
  '412': ['STOP', 'deleted'],
};

const STATE_OF = new Map(
  Object.entries(STATES).flatMap(([code, [name, state]]) => [[code, state] as const, [name, state] as const]),
);

/** The state of a status number or name; null when it is not on the provider's list. */
export function stateOf(status: string): ReportState | null {
  return STATE_OF.get(status.trim().toUpperCase()) ?? null;
}

type Rejection = Exclude<SubmitAnswer, { kind: 'accepted' }>;

const THROTTLED_MS = 1_000;
const LATER_MS = 10_000;
// At most ten messages to one number in 60 s (code 52).
const ONE_NUMBER_MS = 60_000;
// The account may send, or call, only at certain hours (codes 74 and 51).
const HOURS_MS = 600_000;

const refusedFor = (reason: RefusalReason): Rejection => ({ kind: 'refused', reason });

const REFUSED: Readonly<Record<number, Rejection>> = {
  11: refusedFor('invalid_content'), // too long, or empty
  12: refusedFor('invalid_content'), // more parts than `max_parts`
  13: refusedFor('invalid_destination'),
  14: refusedFor('invalid_sender'),
  17: refusedFor('invalid_content'),
  32: refusedFor('not_permitted'), // no foreign numbers
  33: refusedFor('invalid_destination'),
  57: refusedFor('not_permitted'), // on the provider's blacklist
  59: refusedFor('not_permitted'), // on the provider's list of opt-outs
  94: refusedFor('not_permitted'), // no links
  112: refusedFor('not_permitted'), // not to this country
};

// The same for MMS and voice only: an error about a picture or a call says nothing about the route's SMS
// (https://www.smsapi.pl/docs/#19-kody-bledow).
const BESIDE_SMS: Readonly<Record<number, Rejection>> = {
  8: refusedFor('invalid_content'),
  21: refusedFor('invalid_content'), // an MMS of more than 300 kB
  22: refusedFor('invalid_content'), // SMIL
  23: refusedFor('invalid_content'), // media that could not be fetched
  24: refusedFor('invalid_content'), // media of an unsupported format
  26: refusedFor('invalid_content'), // a subject of more than 30 characters
  31: refusedFor('invalid_content'), // a text that cannot be read aloud
  35: refusedFor('invalid_content'), // an unknown voice
  51: { kind: 'later', retryAfterMs: HOURS_MS }, // a call, or one of its repeats, at night
  55: refusedFor('invalid_destination'), // no landline, and mobile phones are skipped
  110: refusedFor('not_permitted'), // the account has no MMS, or no voice
};

// The message was certainly not accepted, and may be retried.
const LATER: Readonly<Record<number, Rejection>> = {
  52: { kind: 'later', retryAfterMs: ONE_NUMBER_MS },
  74: { kind: 'later', retryAfterMs: HOURS_MS },
  200: { kind: 'later', retryAfterMs: LATER_MS },
  202: { kind: 'throttled', retryAfterMs: THROTTLED_MS },
  203: { kind: 'throttled', retryAfterMs: THROTTLED_MS },
  998: { kind: 'later', retryAfterMs: LATER_MS },
};

// The request's form (8 to 93), the token, the points, the address filter, the account (98 to 112), plain HTTP: faults that all messages
// share and no customer can correct.
const BROKEN = new Set([
  7, 8, 18, 19, 20, 25, 27, 28, 30, 40, 41, 50, 51, 54, 56, 70, 71, 72, 76, 93, 98, 101, 102, 103, 104, 105,
  106, 110, 401, 997, 1000, 1001,
]);

/** The `idx` was used before: an earlier attempt, whose answer was lost, was accepted. */
export const ALREADY_TAKEN = 53;

// Codes not listed in https://www.smsapi.pl/docs/#19-kody-bledow, and internal errors of the provider (201, 666, 999), leave open whether
// the message was accepted.
function answerOfError(
  code: number,
  channel: Channel,
  overrides: Readonly<Record<string, string>>,
): Rejection {
  const text = String(code);
  const override = Object.hasOwn(overrides, text) ? overrides[text] : undefined;
  const answer = override === undefined ? usualAnswer(code, channel) : readOverride(override, code);
  return { ...answer, code: text };
}

function usualAnswer(code: number, channel: Channel): Rejection {
  if (code === ALREADY_TAKEN) return { kind: 'unanswered' };
  const beside = channel === 'sms' ? undefined : BESIDE_SMS[code];
  if (beside !== undefined) return beside;
  if (BROKEN.has(code)) return { kind: 'broken', code: '' };
  return REFUSED[code] ?? LATER[code] ?? { kind: 'unanswered' };
}

function readOverride(override: string, code: number): Rejection {
  const [kind = '', seconds] = override.split(':');
  const delayMs = (usual: number) => (seconds === undefined ? usual : Number(seconds) * 1000);
  switch (kind) {
    case 'throttled':
      return { kind, retryAfterMs: delayMs(THROTTLED_MS) };
    case 'later':
      return { kind, retryAfterMs: delayMs(LATER_MS) };
    case 'broken':
      return { kind, code: '' };
    case 'refused':
      return REFUSED[code] ?? refusedFor('network_refused');
    default:
      return { kind: 'unanswered' };
  }
}

const WORDS: Readonly<Record<string, string>> = {
  '98': 'account not activated',
  '101': 'wrong token',
  '102': 'wrong token',
  '103': 'no points',
  '105': 'our address is not on the account’s list',
  '110': 'service not open to the account',
  '401': 'token without the right to this',
  '997': 'HTTPS is required',
};

/** A code for staff, explained when the account is at fault. */
export function describeCode(code: string): string {
  const words = Object.hasOwn(WORDS, code) ? WORDS[code] : undefined;
  if (words !== undefined) return `${words} (${code})`;
  return /^[0-9]+$/.test(code) ? `error ${code} of the provider` : code;
}

const MESSAGE_ID = /^[\x21-\x7e]{1,64}$/;
const LONGEST_WAIT_S = 300;

export interface ReadAnswer {
  answer: SubmitAnswer;
  parts: number | null;
  ended: ReportState | null;
}

/**
 * Reads the answer to a submit with `format=json` (https://www.smsapi.pl/docs/#2-pojedynczy-sms): `{ count, list: [{ id, status, … }],
 * parts }` or `{ error, message }`. Never throws; an answer that makes no sense is `unanswered`.
 */
export function readAnswer(
  exchange: Exchange,
  channel: Channel,
  overrides: Readonly<Record<string, string>>,
): ReadAnswer {
  const only = (answer: SubmitAnswer): ReadAnswer => ({ answer, parts: null, ended: null });
  if (exchange.kind === 'lost') return only({ kind: 'unanswered', code: exchange.code });
  if (exchange.kind !== 'answered') return only({ kind: 'broken', code: exchange.code });
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
  const state = typeof status === 'string' ? stateOf(status) : null;
  return {
    answer: { kind: 'accepted', providerMessageId },
    parts: partsOf(exchange.json, entry),
    ended: state !== null && isFinalReport(state) ? state : null,
  };
}

/** The error code of an answer, whatever its HTTP status; null when there is none. */
export function errorCodeOf(json: unknown): number | null {
  if (!isRecord(json)) return null;
  const code = json['error'];
  if (typeof code === 'number' && Number.isInteger(code) && code >= 0) return code;
  return typeof code === 'string' && /^[0-9]{1,5}$/.test(code) ? Number(code) : null;
}

/** Null unless there is exactly one entry. */
export function firstEntry(json: unknown): Record<string, unknown> | null {
  const list: unknown = isRecord(json) ? json['list'] : undefined;
  const first: unknown = Array.isArray(list) && list.length === 1 ? list[0] : undefined;
  return isRecord(first) ? first : null;
}

// HTTP status without an error code: after a 3xx or 4xx the request was not accepted; after a 5xx, 409, or a proxy's timeout (408), it may
// have been.
function answerOfStatus({ status, headers }: Exchange & { kind: 'answered' }): SubmitAnswer {
  const code = `http_${status}`;
  if (status === 429) return { kind: 'throttled', retryAfterMs: waitOf(headers['retry-after']), code };
  return status >= 300 && status < 500 && status !== 408 && status !== 409
    ? { kind: 'broken', code }
    : { kind: 'unanswered', code };
}

function waitOf(retryAfter: string | undefined): number {
  if (retryAfter === undefined || !/^[0-9]{1,6}$/.test(retryAfter)) return THROTTLED_MS;
  return Math.min(Math.max(Number(retryAfter), 1), LONGEST_WAIT_S) * 1000;
}

function partsOf(json: unknown, entry: Record<string, unknown> | null): number | null {
  const parts = Number((isRecord(json) ? json['parts'] : undefined) ?? entry?.['parts'] ?? NaN);
  return Number.isInteger(parts) && parts > 0 ? parts : null;
}
