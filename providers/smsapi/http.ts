import { Readable } from 'node:stream';
import type { Agent } from 'undici';
import { createAgent, failureCode, isRecord, readJson } from '../http.ts';
import type { Form } from './request.ts';
import type { LookupFinding, LookupStatus } from '../../domain/submission.ts';
import { errorCodeOf, inWords } from './answers.ts';
import type { ProviderBalance } from '../kind.ts';
import type { SmsapiCredentials, SmsapiSettings } from './settings.ts';

const ANSWER_BYTES = 64 * 1024;

/**
 * What became of a request. `not_sent`: certainly nothing of it was written; `lost`: it may have arrived, and there is no
 * answer.
 */
export type Exchange =
  | { kind: 'answered'; status: number; json: unknown; retryAfter: string | null }
  | { kind: 'not_sent'; code: string }
  | { kind: 'lost'; code: string };

/** How long a request may take, in milliseconds from its beginning. */
export interface Limits {
  /** What is not written by then is not written at all. */
  writtenWithinMs: number;
  answeredWithinMs: number;
}

/** Requests to the provider; they never throw for what the network or the provider does. */
export interface ProviderHttp {
  post(path: string, form: Form, limits: Limits): Promise<Exchange>;
  get(path: string, limits: Limits, signal?: AbortSignal): Promise<Exchange>;
  /** Ends all connections; what is under way is lost. */
  close(): Promise<void>;
}

interface Attempt extends Limits {
  headers: Record<string, string>;
  body: string | null;
  signal?: AbortSignal | undefined;
}

/**
 * Speaks with the provider by HTTPS with its token (https://www.smsapi.pl/docs/#1-wprowadzenie, OAuth): no redirects,
 * answers of at most 64 KiB. Where no connection to an address comes about, the next one is tried.
 *
 * @param urls base addresses without a slash at the end, the first preferred
 */
export function createProviderHttp(urls: string[], token: string): ProviderHttp {
  const agent = createAgent();
  const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };

  const viaAny = async (path: string, attempt: Attempt): Promise<Exchange> => {
    const beginning = Date.now();
    let exchange: Exchange = { kind: 'not_sent', code: 'no_address' };
    for (const url of urls) {
      const spentMs = Date.now() - beginning;
      if (spentMs >= attempt.writtenWithinMs) break;
      exchange = await exchangeWith(agent, new URL(url + path), {
        ...attempt,
        writtenWithinMs: attempt.writtenWithinMs - spentMs,
        answeredWithinMs: attempt.answeredWithinMs - spentMs,
      });
      if (exchange.kind !== 'not_sent') break;
    }
    return exchange;
  };

  return {
    post(path, form, limits) {
      const body = new URLSearchParams(form).toString();
      const length = String(Buffer.byteLength(body));
      const ofForm = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': length };
      return viaAny(path, { ...limits, headers: { ...headers, ...ofForm }, body });
    },
    get: (path, limits, signal) => viaAny(path, { ...limits, headers, body: null, signal }),
    close: () => agent.destroy(),
  };
}

async function exchangeWith(agent: Agent, url: URL, attempt: Attempt): Promise<Exchange> {
  const { headers, body, signal } = attempt;
  let written = false;
  // Read only once there is a connection, and the request's head goes out together with its first bytes.
  const watched = function* () {
    written = true;
    yield Buffer.from(body ?? '');
  };
  const ending = new AbortController();
  const giveUp = () => ending.abort();
  const unwritten = setTimeout(() => {
    if (body !== null && !written) giveUp();
  }, attempt.writtenWithinMs);
  const unanswered = setTimeout(giveUp, attempt.answeredWithinMs);
  signal?.addEventListener('abort', giveUp, { once: true });
  try {
    const response = await agent.request({
      origin: url.origin,
      path: url.pathname,
      method: body === null ? 'GET' : 'POST',
      headers,
      body: body === null ? null : Readable.from(watched(), { objectMode: false }),
      signal: ending.signal,
    });
    const json = await readJson(response.body, ANSWER_BYTES);
    const after = response.headers['retry-after'];
    return {
      kind: 'answered',
      status: response.statusCode,
      json,
      retryAfter: typeof after === 'string' ? after : null,
    };
  } catch (error) {
    return { kind: written ? 'lost' : 'not_sent', code: failureCode(error) };
  } finally {
    clearTimeout(unwritten);
    clearTimeout(unanswered);
    signal?.removeEventListener('abort', giveUp);
  }
}

// ITU-T E.212, mobile network codes of Poland's four networks.
const POLISH_NETWORKS: Readonly<Record<string, string>> = {
  '26001': 'Plus',
  '26002': 'T-Mobile',
  '26003': 'Orange',
  '26006': 'Play',
};

const INVALID =
  /unknown subscriber|unallocated|not allocated|invalid|incorrect|illegal|nieprawid|nieznany|nie istnieje/;
const INACTIVE =
  /absent|inactive|not active|switched off|unreachable|not reachable|barred|detached|deactivated|nieaktywn|niedost/;

/** Whether this is a finding, rather than word that the question was taken. */
export function isFinding(fields: Readonly<Record<string, string | undefined>>): boolean {
  return fields['info'] !== undefined || fields['mcc'] !== undefined || fields['ported'] !== undefined;
}

/**
 * What the provider found out about a number, from `status`, `info`, `mcc`, `mnc` and `ported` (the fields of the
 * provider's Java and C# clients, `CheckNumberResponse`, and of its callback,
 * https://www.smsapi.pl/docs/#11-hlr). The wording of `info` is not documented: unknown words leave the status as it is.
 */
export function findingOf(fields: Readonly<Record<string, string | undefined>>): LookupFinding {
  const mcc = code(fields['mcc'], 3);
  // MNC 0 is no network that the provider would name, but the absence of one.
  const mnc = mcc === null ? null : code(fields['mnc'], 2);
  return {
    status: statusOf(fields['status'] ?? '', fields['info'] ?? ''),
    network: mcc === null || mnc === null ? null : (POLISH_NETWORKS[mcc + mnc] ?? null),
    mcc,
    mnc,
    ported: portedOf(fields['ported']),
  };
}

function statusOf(status: string, info: string): LookupStatus {
  const words = info.toLowerCase();
  if (INVALID.test(words)) return 'invalid';
  if (INACTIVE.test(words)) return 'inactive';
  return status.trim().toUpperCase() === 'OK' ? 'active' : 'unknown';
}

function code(digits: string | undefined, length: number): string | null {
  return digits !== undefined && /^0*[1-9][0-9]{0,2}$/.test(digits) && digits.length <= 3
    ? digits.padStart(length, '0')
    : null;
}

function portedOf(ported: string | undefined): boolean | null {
  if (ported === undefined) return null;
  const word = ported.trim().toLowerCase();
  if (word === '1' || word === 'true') return true;
  return word === '0' || word === 'false' ? false : null;
}

const LIMITS = { writtenWithinMs: 10_000, answeredWithinMs: 10_000 };
// Whoever asks for a balance has ten seconds for all of it.
const BALANCE_LIMITS = { writtenWithinMs: 4_000, answeredWithinMs: 6_000 };
const NAME_MAX = 100;
/** The code for an account without points. */
const NO_POINTS = '103';

/**
 * Asks for the account's profile, which costs nothing and sends nothing (https://www.smsapi.pl/docs/#13-konto-uzytkownika,
 * `GET /profile`: `{ name, username, email, payment_type, user_type, points? }`).
 *
 * @param lastError what failed before: where the account had no points, it works again only once it has some
 * @returns null when the provider would take messages, else what is the matter
 */
export async function probe(
  http: ProviderHttp,
  signal: AbortSignal,
  lastError: string | null,
): Promise<string | null> {
  const exchange = await http.get('/profile', LIMITS, signal);
  const problem = problemOf(exchange);
  if (problem !== null) return problem;
  const points = pointsOf(exchange);
  return lastError === NO_POINTS && points !== null && points <= 0 ? NO_POINTS : null;
}

/** What came of a test of a route: whose account it is, or what is the matter. */
export type RouteTest = { ok: true; account: string } | { ok: false; problem: string };

/** Tries address and token of a route without sending anything. Never throws. */
export async function testSmsapiRoute(
  settings: SmsapiSettings,
  { token }: SmsapiCredentials,
): Promise<RouteTest> {
  const http = createProviderHttp(urlsOf(settings), token);
  try {
    const exchange = await http.get('/profile', LIMITS);
    const problem = problemOf(exchange);
    if (problem !== null) return { ok: false, problem: inWords(problem) };
    return { ok: true, account: accountOf(exchange) };
  } finally {
    await http.close();
  }
}

/** What is left of our account, in points of a złoty each; null where the profile does not say. Never throws. */
export async function readBalance(
  settings: SmsapiSettings,
  { token }: SmsapiCredentials,
): Promise<ProviderBalance | null> {
  const http = createProviderHttp(urlsOf(settings), token);
  try {
    const exchange = await http.get('/profile', BALANCE_LIMITS);
    const points = problemOf(exchange) === null ? pointsOf(exchange) : null;
    return points === null ? null : { balance: points, username: usernameOf(exchange) };
  } finally {
    await http.close();
  }
}

/** The addresses to try, in order. */
export function urlsOf({ url, backupUrl }: SmsapiSettings): string[] {
  return backupUrl === undefined ? [url] : [url, backupUrl];
}

// A token without the right `profile` is refused with 403 (code 401): it was known, so the provider works.
function problemOf(exchange: Exchange): string | null {
  if (exchange.kind !== 'answered') return exchange.code;
  const { status, json } = exchange;
  if (status === 403) return null;
  const code = errorCodeOf(json);
  if (code !== null) return String(code);
  if (status !== 200) return `http_${status}`;
  return isRecord(json) ? null : 'not_understood';
}

function pointsOf(exchange: Exchange): number | null {
  const points = exchange.kind === 'answered' && isRecord(exchange.json) ? exchange.json['points'] : null;
  return typeof points === 'number' && Number.isFinite(points) ? points : null;
}

function usernameOf(exchange: Exchange): string | null {
  const profile = exchange.kind === 'answered' && isRecord(exchange.json) ? exchange.json : {};
  const name = profile['username'] ?? profile['name'];
  return typeof name === 'string' ? name.replace(/\p{C}/gu, ' ').slice(0, NAME_MAX) : null;
}

function accountOf(exchange: Exchange): string {
  const shown = usernameOf(exchange) ?? 'name not given';
  const points = pointsOf(exchange);
  return points === null ? shown : `${shown}, ${points} points`;
}
