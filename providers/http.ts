import { Readable } from 'node:stream';
import { Agent } from 'undici';
import { z } from 'zod';
import { LOOPBACK_HOSTS } from '../domain/addresses.ts';

const plainUrl = z.url({ protocol: /^https?$/, abort: true }).refine((url) => {
  const { username, password, search, hash } = new URL(url);
  return username + password + search + hash === '';
}, 'must have no user, query or fragment');

/** Setting: base URL of a provider, no trailing slash. API keys and texts go over it, so it is HTTPS except on loopback (tests). */
export const providerUrl = plainUrl
  .refine(
    (url) => new URL(url).protocol === 'https:' || LOOPBACK_HOSTS.has(new URL(url).hostname),
    'must begin with https://',
  )
  .transform(withoutSlash);

/** Setting: our public base URL, no trailing slash. Hosts become A-labels: a non-ASCII URL would more than halve an SMS part. */
export const publicUrl = plainUrl.transform(withoutSlash);

// Unlike `href`, drops the mark of an empty query or fragment.
function withoutSlash(url: string): string {
  const { origin, pathname } = new URL(url);
  return (origin + pathname).replace(/\/+$/, '');
}

const CONNECT_TIMEOUT_MS = 5_000;
// Short, because an answer is lost when the provider closes a connection just as we write.
const KEEP_ALIVE_MS = 2_000;

const ANSWER_BYTES = 256 * 1024;

/**
 * `not_sent`: the provider cannot have all of the request, and so has nothing; `unreadable`: the same, as the body could not be read;
 * `lost`: it may have arrived, and there is no answer.
 */
export type Exchange =
  | { kind: 'answered'; status: number; json: unknown; headers: Readonly<Record<string, string>> }
  | { kind: 'not_sent' | 'lost'; code: string }
  | { kind: 'unreadable'; code: 'unreadable'; error: unknown };

interface Limits {
  /** From the start; a request that is not fully written by then is aborted. */
  writtenWithinMs: number;
  /** From the end of writing; without a body, from the start. */
  answeredWithinMs: number;
}

export interface Body {
  type: string;
  bytes: number;
  pieces(): AsyncIterable<Buffer> | Iterable<Buffer>;
}

export interface ProviderRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** Below the base URL, with the query. */
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: Body;
}

/** HTTP client of a provider; never throws for what the network or the provider does. */
export interface ProviderHttp {
  send(request: ProviderRequest, limits: Limits, signal?: AbortSignal): Promise<Exchange>;
  close(): Promise<void>;
}

/** A body held in memory. */
export function wholeBody(type: string, text: string): Body {
  const bytes = Buffer.from(text);
  return { type, bytes: bytes.length, pieces: () => [bytes] };
}

/** HTTPS client: no redirects, answers up to 256 KiB. `urls` (no trailing slash) are tried in order until a request could be sent. */
export function createProviderHttp(
  urls: readonly string[],
  headers: Readonly<Record<string, string>>,
): ProviderHttp {
  const agent = new Agent({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const usual = { accept: 'application/json', ...headers };
  return {
    async send(request, limits, signal) {
      const until = Date.now() + limits.writtenWithinMs;
      const whole = { ...request, headers: { ...usual, ...request.headers } };
      let exchange: Exchange = { kind: 'not_sent', code: 'no_address' };
      for (const url of urls) {
        const writtenWithinMs = until - Date.now();
        if (writtenWithinMs <= 0) break;
        exchange = await exchangeWith(agent, url, whole, { ...limits, writtenWithinMs }, signal);
        if (exchange.kind !== 'not_sent') break;
      }
      return exchange;
    },
    close: () => agent.destroy(),
  };
}

async function exchangeWith(
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
  const ofBody = body && { 'content-type': body.type, 'content-length': String(body.bytes) };
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
      headers: { ...headers, ...ofBody },
      body: body === undefined ? null : Readable.from(watched.pieces(), { objectMode: false }),
      signal: ending.signal,
    });
    const json = await readJson(response.body);
    return { kind: 'answered', status: response.statusCode, json, headers: single(response.headers) };
  } catch (error) {
    if (watched.written()) return { kind: 'lost', code: failureCode(error) };
    return watched.failure() ?? { kind: 'not_sent', code: failureCode(error) };
  } finally {
    ended = true;
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}

// A body, and how far it was read. Without its last chunk it is incomplete, so the provider cannot have accepted it.
function watch(body: Body | undefined, onWritten: () => void) {
  let left = body?.bytes ?? Infinity;
  let failure: Exchange | null = null;
  return {
    async *pieces(): AsyncIterable<Buffer> {
      try {
        for await (const piece of body?.pieces() ?? []) {
          left -= piece.length;
          if (left <= 0) onWritten();
          yield piece;
        }
      } catch (error) {
        failure = { kind: 'unreadable', code: 'unreadable', error };
        throw error;
      }
    },
    written: () => left <= 0,
    failure: (): Exchange | null => failure,
  };
}

function single(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter((one): one is [string, string] => typeof one[1] === 'string'),
  );
}

async function readJson(body: AsyncIterable<Buffer> & { destroy(): unknown }): Promise<unknown> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > ANSWER_BYTES) {
      body.destroy();
      return undefined;
    }
  }
  return parsed(Buffer.concat(chunks));
}

/** Parses UTF-8 JSON; undefined when it is invalid. */
export function parsed(utf8: Buffer): unknown {
  try {
    return JSON.parse(utf8.toString('utf8'));
  } catch {
    return undefined;
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function failureCode(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'timed_out';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return code.slice(0, 60);
}
