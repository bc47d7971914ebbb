import { createProviderHttp, type Exchange, isRecord, type ProviderHttp } from '../http.ts';
import type { ResendCredentials, ResendSettings } from './settings.ts';
import type { RouteTest } from '../kind.ts';
import { codeOf, errorOf, describeCode } from './answers.ts';

/** HTTP client of Resend (https://resend.com/docs/api-reference/introduction). */
export function resendHttp(
  { url }: Pick<ResendSettings, 'url'>,
  { apiKey }: Pick<ResendCredentials, 'apiKey'>,
): ProviderHttp {
  // Requests without a user agent are refused.
  return createProviderHttp([url], { authorization: `Bearer ${apiKey}`, 'user-agent': 'goniec' });
}

export const LIMITS = { writtenWithinMs: 10_000, answeredWithinMs: 10_000 };
const ONE_DOMAIN = { method: 'GET', path: '/domains?limit=1' } as const;

/** Lists one domain, sends nothing (https://resend.com/docs/api-reference/domains/list-domains). Null, or an error code. */
export async function probe(http: ProviderHttp, signal: AbortSignal): Promise<string | null> {
  return probeProblem(await http.send(ONE_DOMAIN, LIMITS, signal));
}

/** Tests URL and API key of a route without sending anything. Never throws. */
export async function testResendRoute(
  settings: ResendSettings,
  credentials: ResendCredentials,
): Promise<RouteTest> {
  const http = resendHttp(settings, credentials);
  try {
    const exchange = await http.send(ONE_DOMAIN, LIMITS);
    const problem = probeProblem(exchange);
    if (problem !== null) return { ok: false, problem: describeCode(problem) };
    const remarks = ['the API key is known'];
    if (isSendingOnly(exchange))
      remarks.push('it may only send: sender domains cannot be added or checked with it');
    if (credentials.webhookSecret === undefined)
      remarks.push('there is no webhookSecret: its events are refused');
    return { ok: true, answer: remarks.join('; ') };
  } finally {
    await http.close();
  }
}

function probeProblem(exchange: Exchange): string | null {
  if (exchange.kind !== 'answered') return exchange.code;
  const { status, json } = exchange;
  // A throttling provider works, and a key that may only send is enough for submits.
  if (status === 429 || isSendingOnly(exchange)) return null;
  if (status !== 200) return codeOf(status, json);
  return isRecord(json) && Array.isArray(json['data']) ? null : 'not_understood';
}

function isSendingOnly(exchange: Exchange): boolean {
  return exchange.kind === 'answered' && errorOf(exchange.json)?.name === 'restricted_api_key';
}
