import {
  createProviderHttp,
  type Exchange,
  isRecord,
  type ProviderHttp,
  type ProviderRequest,
  wholeBody,
} from '../http.ts';
import type { Form } from './request.ts';
import type { LookupFinding, LookupStatus } from '../../domain/submission.ts';
import { errorCodeOf, inWords } from './answers.ts';
import type { ProviderBalance, RouteTest } from '../kind.ts';
import type { SmsapiCredentials, SmsapiSettings } from './settings.ts';

/**
 * Speaks with the provider with its token (https://www.smsapi.pl/docs/#1-wprowadzenie, OAuth), at its second address where there is no
 * connection to the first.
 */
export function smsapiHttp(
  { url, backupUrl }: Pick<SmsapiSettings, 'url' | 'backupUrl'>,
  { token }: Pick<SmsapiCredentials, 'token'>,
): ProviderHttp {
  const urls = backupUrl === undefined ? [url] : [url, backupUrl];
  return createProviderHttp(urls, { authorization: `Bearer ${token}` });
}

/** A form to be posted. */
export function formRequest(path: string, form: Form): ProviderRequest {
  const body = wholeBody('application/x-www-form-urlencoded', new URLSearchParams(form).toString());
  return { method: 'POST', path, body };
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

const PROFILE = { method: 'GET', path: '/profile' } as const;
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
  const exchange = await http.send(PROFILE, LIMITS, signal);
  const problem = problemOf(exchange);
  if (problem !== null) return problem;
  const points = pointsOf(exchange);
  return lastError === NO_POINTS && points !== null && points <= 0 ? NO_POINTS : null;
}

/** Tries address and token of a route without sending anything. Never throws. */
export async function testSmsapiRoute(
  settings: SmsapiSettings,
  credentials: SmsapiCredentials,
): Promise<RouteTest> {
  const http = smsapiHttp(settings, credentials);
  try {
    const exchange = await http.send(PROFILE, LIMITS);
    const problem = problemOf(exchange);
    if (problem !== null) return { ok: false, problem: inWords(problem) };
    return { ok: true, answer: `account ${accountOf(exchange)}` };
  } finally {
    await http.close();
  }
}

/** What is left of our account, in points of a złoty each; null where the profile does not say. Never throws. */
export async function readBalance(
  settings: SmsapiSettings,
  credentials: SmsapiCredentials,
): Promise<ProviderBalance | null> {
  const http = smsapiHttp(settings, credentials);
  try {
    const exchange = await http.send(PROFILE, BALANCE_LIMITS);
    const points = problemOf(exchange) === null ? pointsOf(exchange) : null;
    return points === null ? null : { balance: points, username: usernameOf(exchange) };
  } finally {
    await http.close();
  }
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
