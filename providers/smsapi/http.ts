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
import { errorCodeOf, describeCode } from './answers.ts';
import type { ProviderBalance, RouteTest } from '../kind.ts';
import type { SmsapiCredentials, SmsapiSettings } from './settings.ts';

/** HTTP client with the OAuth token (https://www.smsapi.pl/docs/#1-wprowadzenie); falls back to the backup URL. */
export function smsapiHttp(
  { url, backupUrl }: Pick<SmsapiSettings, 'url' | 'backupUrl'>,
  { token }: Pick<SmsapiCredentials, 'token'>,
): ProviderHttp {
  const urls = backupUrl === undefined ? [url] : [url, backupUrl];
  return createProviderHttp(urls, { authorization: `Bearer ${token}` });
}

export function formRequest(path: string, form: Form): ProviderRequest {
  const body = wholeBody('application/x-www-form-urlencoded', new URLSearchParams(form).toString());
  return { method: 'POST', path, body };
}

// Mobile network codes of the four Polish networks (ITU-T E.212).
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

/** Whether these are the fields of a result, not of the acknowledgement of the request. */
export function isFinding(fields: Readonly<Record<string, string | undefined>>): boolean {
  return fields['info'] !== undefined || fields['mcc'] !== undefined || fields['ported'] !== undefined;
}

/**
 * Reads a look-up result (https://www.smsapi.pl/docs/#11-hlr, `CheckNumberResponse` of the provider's Java and C# clients). The wording of
 * `info` is undocumented; unknown words are ignored.
 */
export function findingOf(fields: Readonly<Record<string, string | undefined>>): LookupFinding {
  const mcc = code(fields['mcc'], 3);
  // MNC 0 stands for no network.
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
// The API request for a balance has ten seconds in total.
const BALANCE_LIMITS = { writtenWithinMs: 4_000, answeredWithinMs: 6_000 };
const NAME_MAX = 100;
const NO_POINTS = '103';

/**
 * Requests the profile, which is free (https://www.smsapi.pl/docs/#13-konto-uzytkownika); null when the provider works, else the error
 * code. If `lastError` was a lack of points, it works only once there are some.
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

/** Tests URL and token of a route without sending anything. Never throws. */
export async function testSmsapiRoute(
  settings: SmsapiSettings,
  credentials: SmsapiCredentials,
): Promise<RouteTest> {
  const http = smsapiHttp(settings, credentials);
  try {
    const exchange = await http.send(PROFILE, LIMITS);
    const problem = problemOf(exchange);
    if (problem !== null) return { ok: false, problem: describeCode(problem) };
    const [username, points] = [usernameOf(exchange), pointsOf(exchange)];
    const balance = points === null ? '' : `, ${points} points`;
    return { ok: true, answer: `account ${username ?? 'name not given'}${balance}` };
  } finally {
    await http.close();
  }
}

/** Balance of our account in points of 1 PLN each; null when the profile does not show it. Never throws. */
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

// A token without the right `profile` gets 403 (code 401): it is known, so the provider works.
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
