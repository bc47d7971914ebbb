import { setImmediate } from 'node:timers/promises';
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { HttpRefused } from './refusals.ts';
import { type BodyShape, checkBounds, type FileText } from './jsonBounds.ts';

const STEP_CHARACTERS = 256 * 1024;
const BACKSLASH = '\\';
const ESCAPE_MOST = '\\u0000'.length;
// JSON escapes of base64 characters (some encoders escape + and =) and of line ends, as in MIME.
const ESCAPES = /\\(?:[/nr]|u00[0-7][0-9A-Fa-f])/g;
const PARTIAL_ESCAPE = /\\(?:u[0-9A-Fa-f]{0,3})?$/;

/** A file's content in a body: base64, not yet decoded. */
export class EncodedFile {
  readonly #text: Buffer;

  /** @param text the raw bytes between the quotes of the JSON string */
  constructor(text: Buffer) {
    this.#text = text;
  }

  /**
   * Decodes the content; other requests run between steps.
   * @returns pieces of which all but the last have a multiple of three octets; null for invalid base64 (RFC 4648, 4)
   */
  async decode(): Promise<{ bytes: number; pieces: Buffer[] } | null> {
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

/** Resolves escapes. @returns whole groups of four characters, and the rest for the next step */
function unescaped(given: string, last: boolean): { text: string; rest: string } {
  // An escape may be cut at the end of a step.
  const kept = last ? '' : (PARTIAL_ESCAPE.exec(given.slice(-ESCAPE_MOST))?.[0] ?? '');
  const whole = given.slice(0, given.length - kept.length);
  const plain = whole.includes(BACKSLASH) ? whole.replace(ESCAPES, unescapeCharacter) : whole;
  const end = last ? plain.length : plain.length - (plain.length % 4);
  return { text: plain.slice(0, end), rest: plain.slice(end) + kept };
}

function unescapeCharacter(escape: string): string {
  const meant = JSON.parse(`"${escape}"`) as string;
  return meant === '\n' || meant === '\r' ? '' : meant;
}

/** @returns null for invalid base64, or padding before the end */
function decoded(text: string, last: boolean): Buffer | null {
  if (text.length % 4 !== 0 || (!last && text.includes('='))) return null;
  // `Buffer.from` also accepts the URL-safe alphabet (RFC 4648, 5).
  if (text.includes('-') || text.includes('_')) return null;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const bytes = Buffer.from(text, 'base64');
  // `Buffer.from` skips invalid characters, so that fewer bytes come out.
  return bytes.length === (text.length / 4) * 3 - padding ? bytes : null;
}

/** Bytes; a larger body makes its request heavy. An array of 500 numbers (v2.3.0, Limits) is 8 kB. */
const LARGE_BODY = 64 * 1024;
const JSON_TYPE = /^application\/json\s*(?:;|$)/i;
const CSV_TYPE = /^text\/csv\s*(?:;|$)/i;
const CHARSET = /;\s*charset\s*=\s*"?([^";\s]+)"?/i;
const BYTE_ORDER_MARK = Buffer.from('\ufeff');
// Time for any body to arrive, plus the time of the endpoint's limit at 1.2 Mbit/s.
const BODY_TIMEOUT_MS = 30_000;
const SLOWEST_BYTES_PER_MS = 150;

interface BytesReading {
  limitBytes: number;
  /** Milliseconds for the whole body; by default 30 s, plus the time of the limit at 1.2 Mbit/s. */
  withinMs?: number | undefined;
  /** Called when more than `LARGE_BODY` bytes are announced by `Content-Length`, and when they have arrived. Throwing ends reading. */
  onLarge?: (() => void) | undefined;
}

interface BodyReading extends Omit<BytesReading, 'withinMs'> {
  shape?: BodyShape | undefined;
  parseCsv?: ((utf8: Buffer) => Promise<unknown>) | undefined;
}

/**
 * Reads and parses a body: JSON, or CSV where the endpoint accepts it. Compressed bodies are refused, as the size limit would not bound
 * what they expand to.
 * @throws HttpRefused for an unsupported, incomplete or malformed body, and what `onLarge` throws
 */
export async function readBody(request: IncomingMessage, reading: BodyReading): Promise<unknown> {
  const { limitBytes, onLarge, parseCsv, shape } = reading;
  const types = {
    'application/json': JSON_TYPE,
    ...(parseCsv === undefined ? {} : { 'text/csv': CSV_TYPE }),
  };
  const isCsv = parseCsv !== undefined && CSV_TYPE.test(request.headers['content-type'] ?? '');
  refuseUnreadable(request, types);
  const bytes = await readBytes(request, { limitBytes, onLarge });
  if (bytes.length === 0) throw new HttpRefused({ reason: 'body_missing' });
  if (!isUtf8(bytes)) throw new HttpRefused({ reason: isCsv ? 'csv_not_utf8' : 'body_not_utf8' });
  const isMarked = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  const content = isMarked ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
  if (isCsv) return await parseCsv(content);
  return shape === undefined ? parseJson(content) : parseWithFiles(content, shape);
}

function parseJson(bytes: Buffer): unknown {
  checkBounds(bytes);
  return parsed(bytes);
}

/** Cuts file contents out before parsing and inserts them as raw bytes afterwards: they never become strings. */
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
  // Without files the document may be anything.
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

/** null for a chunked body. */
function announcedBytes({ headers }: IncomingMessage): number | null {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : null;
}

function refuseUnreadable({ headers }: IncomingMessage, types: Readonly<Record<string, RegExp>>): void {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') throw new HttpRefused({ reason: 'content_encoding_unsupported' });
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (!hasBody) throw new HttpRefused({ reason: 'body_missing' });
  const type = headers['content-type'] ?? '';
  if (!Object.values(types).some((accepted) => accepted.test(type)))
    throw new HttpRefused({ reason: 'content_type_unsupported', types: Object.keys(types) });
  const charset = CHARSET.exec(type)?.[1]?.toLowerCase() ?? 'utf-8';
  if (charset !== 'utf-8' && charset !== 'utf8') throw new HttpRefused({ reason: 'charset_unsupported' });
}

/** Reads a body. @throws HttpRefused (too large, too slow, aborted), and what `onLarge` throws */
export async function readBytes(
  request: IncomingMessage,
  { limitBytes, onLarge, withinMs = BODY_TIMEOUT_MS + limitBytes / SLOWEST_BYTES_PER_MS }: BytesReading,
): Promise<Buffer> {
  const announced = announcedBytes(request);
  if (announced !== null && announced > limitBytes) throw tooLarge(limitBytes);
  if (announced !== null && announced > LARGE_BODY) onLarge?.();
  // The client disconnected before this call: no event will follow.
  if (request.destroyed && !request.complete) throw new HttpRefused({ reason: 'body_aborted' });
  return await new Promise((resolve, reject) => {
    const pieces = createBodyBuffer(announced);
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
        if (size > LARGE_BODY) onLarge?.();
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

interface BodyBuffer {
  add(piece: Buffer): void;
  whole(): Buffer;
}

// A buffer of the announced size, whose memory is used only as it is written: concatenating 18 MB would block the process for 60 ms
// and need the memory twice.
function createBodyBuffer(announced: number | null): BodyBuffer {
  if (announced === null) {
    const pieces: Buffer[] = [];
    return { add: (piece) => void pieces.push(piece), whole: () => Buffer.concat(pieces) };
  }
  const bytes = Buffer.allocUnsafeSlow(announced);
  let size = 0;
  return { add: (piece) => void (size += piece.copy(bytes, size)), whole: () => bytes.subarray(0, size) };
}

function tooLarge(limitBytes: number): HttpRefused {
  return new HttpRefused({ reason: 'too_large', limitBytes });
}
