import type { IncomingMessage } from 'node:http';
import { ApiError, invalidRequest } from './errors.ts';

const JSON_TYPE = /^application\/json\s*(?:;|$)/i;
const CSV_TYPE = /^text\/csv\s*(?:;|$)/i;
const CHARSET = /;\s*charset\s*=\s*"?([^";\s]+)"?/i;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a body: JSON, or CSV where the endpoint takes it. Compressed bodies are refused: a limit on what arrives would say nothing about what it becomes.
 *
 * @param limitBytes greatest size in bytes
 * @param parseCsv turns CSV text into what JSON would have been
 * @throws ApiError 415 (type, charset, encoding), 413 (size), 400 (missing, cut off, not UTF-8, not JSON)
 */
export async function readBody(
  request: IncomingMessage,
  limitBytes: number,
  parseCsv?: (text: string) => unknown,
): Promise<unknown> {
  const isCsv = parseCsv !== undefined && CSV_TYPE.test(request.headers['content-type'] ?? '');
  refuseUnreadable(request, isCsv);
  const bytes = await readBytes(request, limitBytes);
  if (bytes.length === 0) throw invalidRequest({ reason: 'body_missing' });
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch {
    throw invalidRequest({ reason: 'body_not_utf8' });
  }
  if (isCsv) return parseCsv(text);
  try {
    return JSON.parse(text);
  } catch {
    throw invalidRequest({ reason: 'body_not_json' });
  }
}

function refuseUnreadable({ headers }: IncomingMessage, isCsv: boolean): void {
  const unsupported = (
    reason: 'content_type_unsupported' | 'charset_unsupported' | 'content_encoding_unsupported',
  ) => new ApiError(415, 'unsupported_media_type', { reason });
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') throw unsupported('content_encoding_unsupported');
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (!hasBody) throw invalidRequest({ reason: 'body_missing' });
  const type = headers['content-type'] ?? '';
  if (!isCsv && !JSON_TYPE.test(type)) throw unsupported('content_type_unsupported');
  const charset = CHARSET.exec(type)?.[1]?.toLowerCase() ?? 'utf-8';
  if (charset !== 'utf-8' && charset !== 'utf8') throw unsupported('charset_unsupported');
}

/**
 * Reads a body as it comes.
 * @throws ApiError 413 (size), 400 (cut off)
 */
export function readBytes(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const tooLarge = () =>
    new ApiError(
      413,
      'payload_too_large',
      { reason: 'too_large', limitBytes },
      { headers: { Connection: 'close' } },
    );
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (outcome: () => void) => {
      request.off('data', onData).off('end', onEnd).off('close', onCut).off('error', onCut);
      outcome();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > limitBytes) settle(() => reject(tooLarge()));
      else chunks.push(chunk);
    };
    const onEnd = () => settle(() => resolve(Buffer.concat(chunks)));
    const onCut = () => settle(() => reject(invalidRequest({ reason: 'body_aborted' })));
    request.on('data', onData).on('end', onEnd).on('close', onCut).on('error', onCut);
  });
}
