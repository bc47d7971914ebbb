import { z } from 'zod';
import { Agent } from 'undici';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

const plainUrl = z
  .url({ protocol: /^https?$/, abort: true })
  .refine((url) => isPlain(new URL(url)), 'must have no user, query or fragment');

/**
 * A setting: the base address of a provider's interface, without a slash at the end. Keys and texts go over it: never in clear,
 * except to a provider on this very machine (tests).
 */
export const providerUrl = plainUrl
  .refine(
    (url) => new URL(url).protocol === 'https:' || LOOPBACK.has(new URL(url).hostname),
    'must begin with https://',
  )
  .transform(withoutSlash);

/**
 * A setting: the base address of this service as others see it, without a slash at the end. A host with letters beyond ASCII is
 * written as DNS has it: in an SMS they would cost a part more than half its length.
 */
export const publicUrl = plainUrl.transform(withoutSlash);

function isPlain({ username, password, search, hash }: URL): boolean {
  return username === '' && password === '' && search === '' && hash === '';
}

// Without the mark of an empty query or fragment too, which `href` keeps.
function withoutSlash(url: string): string {
  const { origin, pathname } = new URL(url);
  return (origin + pathname).replace(/\/+$/, '');
}

const CONNECT_TIMEOUT_MS = 5_000;
// A connection that the provider closes just when we write on it loses an answer: rather a new one more often.
const KEEP_ALIVE_MS = 2_000;

/** Connections to a provider's HTTP interface, whose requests have time limits of their own. */
export function createAgent(): Agent {
  return new Agent({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    // The limits of each request are the only ones.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

/** The JSON of an answer's body; undefined for what is none, and for what is longer than any answer there is. */
export async function readJson(
  body: AsyncIterable<Buffer> & { destroy(): unknown },
  mostBytes: number,
): Promise<unknown> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > mostBytes) {
      body.destroy();
      return undefined;
    }
  }
  return parsed(Buffer.concat(chunks));
}

/** The JSON in UTF-8; undefined for what is none. */
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

/** A short name of what went wrong with a request, without addresses or contents. */
export function failureCode(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'timed_out';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return code.slice(0, 60);
}
