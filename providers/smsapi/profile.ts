import { isRecord } from '../http.ts';
import { createProviderHttp, type Exchange, type ProviderHttp } from './http.ts';
import { errorCodeOf } from './answers.ts';
import { inWords } from './errorCodes.ts';
import type { ProviderBalance } from '../kind.ts';
import type { SmsapiCredentials, SmsapiSettings } from './settings.ts';

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
