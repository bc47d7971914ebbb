import { Readable } from 'node:stream';
import type { Agent } from 'undici';
import { createAgent, failureCode, isRecord, readJson } from '../http.ts';
import type { Body } from './provider.ts';
import type { ResendCredentials, ResendSettings } from './settings.ts';
import type { RouteTest } from '../kind.ts';
import { codeOf, errorOf, inWords } from './answers.ts';

const ANSWER_BYTES = 256 * 1024;

/**
 * What became of a request. `not_sent`: the provider cannot have all of it, and so nothing; `unreadable`: the same, as what was to be
 * sent could not be read; `lost`: it may have arrived, and there is no answer.
 */
export type Exchange =
  | { kind: 'answered'; status: number; json: unknown; headers: Readonly<Record<string, string>> }
  | { kind: 'not_sent'; code: string }
  | { kind: 'unreadable'; error: unknown }
  | { kind: 'lost'; code: string };

/** How long a request may take, in milliseconds. */
export interface Limits {
  /** From its beginning; what is not written by then is given up. */
  writtenWithinMs: number;
  /** From when it is written. */
  answeredWithinMs: number;
}

export interface ProviderRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** Below the base address, with its query. */
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: Body;
}

/** Requests to the provider; they never throw for what the network or the provider does. */
export interface ProviderHttp {
  send(request: ProviderRequest, limits: Limits, signal?: AbortSignal): Promise<Exchange>;
  /** Ends all connections; what is under way is lost. */
  close(): Promise<void>;
}

/**
 * Speaks with the provider by HTTPS (https://resend.com/docs/api-reference/introduction): no redirects, answers of at most 256 KiB.
 *
 * @param url base address without a slash at the end
 */
export function createProviderHttp(url: string, apiKey: string): ProviderHttp {
  const agent = createAgent();
  // Requests that name no user agent are refused.
  const usual = {
    authorization: `Bearer ${apiKey}`,
    accept: 'application/json',
    'user-agent': 'goniec',
  };
  return {
    send: ({ headers = {}, ...request }, limits, signal) =>
      exchange(agent, url, { ...request, headers: { ...usual, ...headers } }, limits, signal),
    close: () => agent.destroy(),
  };
}

async function exchange(
  agent: Agent,
  base: string,
  { method, path, headers, body }: ProviderRequest,
  { writtenWithinMs, answeredWithinMs }: Limits,
  signal?: AbortSignal,
): Promise<Exchange> {
  const url = new URL(base + path);
  const ending = new AbortController();
  const giveUp = () => ending.abort();
  let timer = setTimeout(giveUp, body === undefined ? answeredWithinMs : writtenWithinMs);
  let ended = false;
  const watched = watch(body, () => {
    if (ended) return;
    clearTimeout(timer);
    timer = setTimeout(giveUp, answeredWithinMs);
  });
  if (signal?.aborted === true) giveUp();
  signal?.addEventListener('abort', giveUp, { once: true });
  try {
    const response = await agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers: { ...headers, ...ofBody(body) },
      // Read only once there is a connection.
      body: body === undefined ? null : Readable.from(watched.pieces(), { objectMode: false }),
      signal: ending.signal,
    });
    const json = await readJson(response.body, ANSWER_BYTES);
    return {
      kind: 'answered',
      status: response.statusCode,
      json,
      headers: single(response.headers),
    };
  } catch (error) {
    if (watched.written()) return { kind: 'lost', code: failureCode(error) };
    const unreadable = watched.failure();
    return unreadable === null
      ? { kind: 'not_sent', code: failureCode(error) }
      : { kind: 'unreadable', ...unreadable };
  } finally {
    ended = true;
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}

function ofBody(body: Body | undefined): Record<string, string> {
  return body === undefined
    ? {}
    : { 'content-type': 'application/json', 'content-length': String(body.bytes) };
}

/** A body, and what is known of its being read. One that lacks its last piece is no JSON: nobody can have taken it. */
interface WatchedBody {
  pieces(): AsyncIterable<Buffer>;
  /** Whether its last piece was handed out; true of none. */
  written(): boolean;
  /** Why it could not be read. */
  failure(): { error: unknown } | null;
}

function watch(body: Body | undefined, onWritten: () => void): WatchedBody {
  let left = body?.bytes ?? 0;
  let failure: { error: unknown } | null = null;
  return {
    async *pieces() {
      try {
        for await (const piece of body?.pieces() ?? []) {
          left -= piece.length;
          if (left <= 0) onWritten();
          yield piece;
        }
      } catch (error) {
        failure = { error };
        throw error;
      }
    },
    written: () => left <= 0,
    failure: () => failure,
  };
}

function single(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const one: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) if (typeof value === 'string') one[name] = value;
  return one;
}

const LIMITS = { writtenWithinMs: 10_000, answeredWithinMs: 10_000 };
const ONE_DOMAIN = { method: 'GET', path: '/domains?limit=1' } as const;

/**
 * Asks for a domain, which sends nothing (https://resend.com/docs/api-reference/domains/list-domains).
 * @returns null when the provider would take e-mails, else what is the matter
 */
export async function probe(http: ProviderHttp, signal: AbortSignal): Promise<string | null> {
  return probeProblem(await http.send(ONE_DOMAIN, LIMITS, signal));
}

/** Tries address and API key of a route without sending anything. Never throws. */
export async function testResendRoute(
  { url }: ResendSettings,
  { apiKey, webhookSecret }: ResendCredentials,
): Promise<RouteTest> {
  const http = createProviderHttp(url, apiKey);
  try {
    const exchange = await http.send(ONE_DOMAIN, LIMITS);
    const problem = probeProblem(exchange);
    if (problem !== null) return { ok: false, problem: inWords(problem) };
    const remarks = ['the API key is known'];
    if (isSendingOnly(exchange))
      remarks.push('it may only send: sender domains cannot be added or checked with it');
    if (webhookSecret === undefined) remarks.push('there is no webhookSecret: its events are refused');
    return { ok: true, answer: remarks.join('; ') };
  } finally {
    await http.close();
  }
}

function probeProblem(exchange: Exchange): string | null {
  if (exchange.kind === 'unreadable') return exchange.kind;
  if (exchange.kind !== 'answered') return exchange.code;
  const { status, json } = exchange;
  // Busy, but there; and a key that may only send can do all that hand-overs need.
  if (status === 429 || isSendingOnly(exchange)) return null;
  if (status !== 200) return codeOf(status, json);
  return isRecord(json) && Array.isArray(json['data']) ? null : 'not_understood';
}

function isSendingOnly(exchange: Exchange): boolean {
  return exchange.kind === 'answered' && errorOf(exchange.json)?.name === 'restricted_api_key';
}
