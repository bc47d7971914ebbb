import { setImmediate } from 'node:timers/promises';
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { HttpRefused } from './refusals.ts';
import { type BodyShape, checkBounds, type FileText } from './jsonBounds.ts';
import { countFurther, type RateWindow } from '../../db/accounts/keys.ts';
import type { Sql } from '../../db/connection.ts';
import { windowName } from './authentication.ts';
import { Refused } from '../../domain/refusals.ts';

// Characters looked at in one step; four of base64 are three bytes.
const STEP_CHARACTERS = 256 * 1024;
const BACKSLASH = '\\';
const ESCAPE_MOST = '\\u0000'.length;
// How JSON may write a character of base64, and an end of line within it as MIME has it. Some encoders escape + and =.
const ESCAPES = /\\(?:[/nr]|u00[0-7][0-9A-Fa-f])/g;
const CUT_ESCAPE = /\\(?:u[0-9A-Fa-f]{0,3})?$/;

/** A file's bytes, in pieces whose length is a multiple of three, but for the last. */
interface DecodedFile {
  bytes: number;
  pieces: Buffer[];
}

/** The content of a file in a body: base64, not yet decoded. */
export class EncodedFile {
  readonly #text: Buffer;

  /** @param text what stands between the quotes of the JSON text */
  constructor(text: Buffer) {
    this.#text = text;
  }

  /** Decodes it, and serves others in between. @returns null for what is no base64 (RFC 4648, 4) */
  async decode(): Promise<DecodedFile | null> {
    const pieces: Buffer[] = [];
    let bytes = 0;
    let left = '';
    for (let at = 0; at < this.#text.length; at += STEP_CHARACTERS) {
      if (at > 0) await setImmediate();
      const last = at + STEP_CHARACTERS >= this.#text.length;
      const { text, rest } = unescaped(left + this.#text.toString('latin1', at, at + STEP_CHARACTERS), last);
      const piece = decoded(text, last);
      if (piece === null) return null;
      left = rest;
      bytes += piece.length;
      if (piece.length > 0) pieces.push(piece);
    }
    return { bytes, pieces };
  }
}

/** Whole groups of four characters without escapes, and what is left for the next step. */
function unescaped(given: string, last: boolean): { text: string; rest: string } {
  // An escape may go on in the next step.
  const kept = last ? '' : (CUT_ESCAPE.exec(given.slice(-ESCAPE_MOST))?.[0] ?? '');
  const whole = given.slice(0, given.length - kept.length);
  const plain = whole.includes(BACKSLASH) ? whole.replace(ESCAPES, meantBy) : whole;
  const end = last ? plain.length : plain.length - (plain.length % 4);
  return { text: plain.slice(0, end), rest: plain.slice(end) + kept };
}

function meantBy(escape: string): string {
  const meant = JSON.parse(`"${escape}"`) as string;
  return meant === '\n' || meant === '\r' ? '' : meant;
}

/** @returns null for what is no base64, or is padded before its end */
function decoded(text: string, last: boolean): Buffer | null {
  if (text.length % 4 !== 0 || (!last && text.includes('='))) return null;
  // The decoder takes the alphabet of addresses on the web (RFC 4648, 5) as well.
  if (text.includes('-') || text.includes('_')) return null;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const bytes = Buffer.from(text, 'base64');
  // What is not of the alphabet is left out by the decoder, so that less comes out.
  return bytes.length === (text.length / 4) * 3 - padding ? bytes : null;
}

const JSON_TYPE = /^application\/json\s*(?:;|$)/i;
const CSV_TYPE = /^text\/csv\s*(?:;|$)/i;
const CHARSET = /;\s*charset\s*=\s*"?([^";\s]+)"?/i;
const BYTE_ORDER_MARK = Buffer.from('\ufeff');
// So long any body may take, and longer by what the endpoint takes over a line of 1.2 Mbit/s.
const SLOW_MS = 30_000;
const SLOWEST_BYTES_PER_MS = 150;

/** What is known of the size of a body before there is all of it. */
export interface SizeWatch {
  /**
   * Called for a body of more than `bytes` before it is read, if its `Content-Length` says so, and when as much of it has come. What
   * it throws ends the reading.
   */
  largerThan: { bytes: number; exceeded: () => void };
  /** Gets the size before anything is made of the body: as announced, before it is read, or once it is there. */
  size: (bytes: number) => Promise<void>;
}

/** How the bytes of a body are read. */
interface BytesReading {
  /** Greatest size in bytes. */
  limitBytes: number;
  /** For how many milliseconds it may take to come; unless told half a minute, and longer by what a slow line takes over the limit. */
  withinMs?: number | undefined;
  /** Of {@link SizeWatch}. */
  largerThan?: SizeWatch['largerThan'];
}

/** How a body is read. */
interface BodyReading extends Omit<BytesReading, 'largerThan' | 'withinMs'> {
  watch: SizeWatch;
  /** Of a body with longer texts than others, or files. */
  shape?: BodyShape | undefined;
  /** Turns CSV text into what JSON would have been. */
  parseCsv?: ((utf8: Buffer) => Promise<unknown>) | undefined;
}

/**
 * Reads a body: JSON, or CSV where the endpoint takes it. Compressed bodies are refused: a limit on what arrives would say nothing about what it becomes.
 *
 * @throws HttpRefused (type, charset, encoding, size; missing, cut off, not UTF-8, not JSON, too deep, too many keys, a key
 *   twice), and what the watch throws
 */
export async function readBody(request: IncomingMessage, reading: BodyReading): Promise<unknown> {
  const { limitBytes, watch, parseCsv, shape } = reading;
  const isCsv = parseCsv !== undefined && CSV_TYPE.test(request.headers['content-type'] ?? '');
  refuseUnreadable(request, isCsv);
  const announced = announcedBytes(request);
  if (announced !== null) {
    if (announced > limitBytes) throw tooLarge(limitBytes);
    if (announced > watch.largerThan.bytes) watch.largerThan.exceeded();
    await watch.size(announced);
  }
  const bytes = await readBytes(request, { limitBytes, largerThan: watch.largerThan });
  if (bytes.length === 0) throw new HttpRefused({ reason: 'body_missing' });
  if (announced === null) await watch.size(bytes.length);
  if (!isUtf8(bytes)) throw new HttpRefused({ reason: 'body_not_utf8' });
  const isMarked = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  const content = isMarked ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
  if (isCsv) return await parseCsv(content);
  return shape === undefined ? parseJson(content) : parseWithFiles(content, shape);
}

function parseJson(bytes: Buffer): unknown {
  checkBounds(bytes);
  return parsed(bytes);
}

/** What stands between the quotes of a file's content is never made a text: it is cut out, and put in its place as it came. */
function parseWithFiles(bytes: Buffer, shape: BodyShape): unknown {
  const files: FileText[] = [];
  checkBounds(bytes, shape, files);
  const rest: Buffer[] = [];
  let at = 0;
  for (const { from, to } of files) {
    rest.push(bytes.subarray(at, from));
    at = to;
  }
  rest.push(bytes.subarray(at));
  const value = parsed(Buffer.concat(rest), shape.parsedBytes);
  // Without files it may be anything.
  if (files.length === 0) return value;
  const list = (value as Record<string, { content: unknown }[]>)[shape.files]!;
  for (const { index, from, to } of files) {
    list[index]!.content = new EncodedFile(bytes.subarray(from, to));
  }
  return value;
}

function parsed(bytes: Buffer, limit = Infinity): unknown {
  if (bytes.length > limit) throw tooLarge(limit);
  try {
    return JSON.parse(bytes.toString());
  } catch {
    throw new HttpRefused({ reason: 'body_not_json' });
  }
}

/** The body's `Content-Length`; null when it comes in chunks. */
function announcedBytes({ headers }: IncomingMessage): number | null {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : null;
}

function refuseUnreadable({ headers }: IncomingMessage, isCsv: boolean): void {
  const unsupported = (
    reason: 'content_type_unsupported' | 'charset_unsupported' | 'content_encoding_unsupported',
  ) => new HttpRefused({ reason });
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') throw unsupported('content_encoding_unsupported');
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (!hasBody) throw new HttpRefused({ reason: 'body_missing' });
  const type = headers['content-type'] ?? '';
  if (!isCsv && !JSON_TYPE.test(type)) throw unsupported('content_type_unsupported');
  const charset = CHARSET.exec(type)?.[1]?.toLowerCase() ?? 'utf-8';
  if (charset !== 'utf-8' && charset !== 'utf8') throw unsupported('charset_unsupported');
}

/**
 * Reads a body as it comes.
 * @throws HttpRefused (too large, too slow, cut off)
 */
export function readBytes(
  request: IncomingMessage,
  { limitBytes, largerThan, withinMs = SLOW_MS + limitBytes / SLOWEST_BYTES_PER_MS }: BytesReading,
): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes)
    return Promise.reject(tooLarge(limitBytes));
  // Gone while something else was waited for: it will not say so again.
  if (request.destroyed && !request.complete)
    return Promise.reject(new HttpRefused({ reason: 'body_aborted' }));
  return new Promise((resolve, reject) => {
    const pieces = gathering(announcedBytes(request));
    let size = 0;
    const settle = (outcome: () => void) => {
      clearTimeout(tooLong);
      request.off('data', onData).off('end', onEnd).off('close', onCut).off('error', onCut);
      outcome();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      try {
        if (size > limitBytes) throw tooLarge(limitBytes);
        if (largerThan !== undefined && size > largerThan.bytes) largerThan.exceeded();
        pieces.add(chunk);
      } catch (error) {
        settle(() => reject(error instanceof Error ? error : new Error(String(error))));
      }
    };
    const onSlow = () => settle(() => reject(new HttpRefused({ reason: 'request_too_slow' })));
    const tooLong = setTimeout(onSlow, withinMs);
    const onEnd = () => settle(() => resolve(pieces.whole()));
    const onCut = () => settle(() => reject(new HttpRefused({ reason: 'body_aborted' })));
    request.on('data', onData).on('end', onEnd).on('close', onCut).on('error', onCut);
  });
}

/** Where the pieces of a body are put together. */
interface Gathering {
  add(piece: Buffer): void;
  whole(): Buffer;
}

/**
 * A body whose size is known has its place from the beginning, which is memory only as far as it is written to: 18 MB copied at once
 * would hold up everybody for 60 ms, and be there twice.
 */
function gathering(announced: number | null): Gathering {
  if (announced === null) {
    const pieces: Buffer[] = [];
    return { add: (piece) => void pieces.push(piece), whole: () => Buffer.concat(pieces) };
  }
  const bytes = Buffer.allocUnsafeSlow(announced);
  let size = 0;
  return {
    add: (piece) => void (size += piece.copy(bytes, size)),
    whole: () => bytes.subarray(0, size),
  };
}

function tooLarge(limitBytes: number): HttpRefused {
  return new HttpRefused({ reason: 'too_large', limitBytes });
}

/** So much of a body counts as one request. An array of 500 numbers (v2.3.0, Limits) is 8 kB. */
export const BYTES_OF_A_REQUEST = 64 * 1024;

/**
 * Counts a large body against its caller's rate limit (v2.3.0 and v1.2.0, Limits): each further 64 kB that it begins is one more request, up to the
 * whole window. Whoever is refused is counted once, as any request is.
 *
 * @param bytesOfARequest how much of it counts as one request
 * @param setHeader receives the `RateLimit` header as it is then
 * @throws Refused when the window has no room for it
 */
export async function countBody(
  sql: Sql,
  window: RateWindow,
  bytes: number,
  bytesOfARequest: number,
  setHeader: (name: string, value: string) => void,
): Promise<void> {
  const further = Math.ceil(bytes / bytesOfARequest) - 1;
  if (further < 1) return;
  const { taken, left, resetsIn: seconds } = await countFurther(sql, window, further);
  setHeader('RateLimit', `"${windowName(window)}";r=${Math.max(left, 0)};t=${seconds}`);
  if (taken) return;
  throw new Refused({ reason: 'rate_limited', seconds });
}
