import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { HttpRefused } from './refusals.ts';
import { EncodedFile } from './encodedFile.ts';
import { type BodyShape, checkBounds, type FileText } from './jsonBounds.ts';

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
export interface BodyReading extends Omit<BytesReading, 'largerThan' | 'withinMs'> {
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
