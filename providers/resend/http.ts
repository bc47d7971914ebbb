import { Readable } from 'node:stream';
import { Agent } from 'undici';
import type { Body } from './body.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const ANSWER_BYTES = 256 * 1024;
// A connection that the provider closes just when we write on it loses an answer: rather a new one more often.
const KEEP_ALIVE_MS = 2_000;

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
  const agent = new Agent({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    // The limits of each request are the only ones.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
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
    const text = await wholeText(response.body);
    return {
      kind: 'answered',
      status: response.statusCode,
      json: text === null ? undefined : parsed(text),
      headers: single(response.headers),
    };
  } catch (error) {
    if (watched.written()) return { kind: 'lost', code: codeOf(error) };
    const unreadable = watched.failure();
    return unreadable === null
      ? { kind: 'not_sent', code: codeOf(error) }
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

/** The answer's body; null when it is longer than any answer there is. */
async function wholeText(body: AsyncIterable<Buffer> & { destroy(): unknown }): Promise<string | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > ANSWER_BYTES) {
      body.destroy();
      return null;
    }
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function single(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const one: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) if (typeof value === 'string') one[name] = value;
  return one;
}

/** A short name of what went wrong, without addresses or contents. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'timed_out';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return code.slice(0, 60);
}
