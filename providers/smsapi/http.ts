import { Readable } from 'node:stream';
import type { Agent } from 'undici';
import { createAgent, failureCode, readJson } from '../http.ts';
import type { Form } from './request.ts';

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
