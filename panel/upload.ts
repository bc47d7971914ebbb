import { Busboy } from '@fastify/busboy';
import type { IncomingMessage } from 'node:http';
import { readBytes } from '../api/http/body.ts';
import { HttpRefused } from '../api/http/refusals.ts';
import { storable } from '../domain/ids.ts';

/** A file that somebody sent. */
export interface Upload {
  /** As its owner calls it, without folders. */
  name: string;
  bytes: Buffer;
}

/** Milliseconds in which a file may arrive. */
export const UPLOAD_MS = 60_000;

const TYPE = 'multipart/form-data';
const NAME_MAX = 100;
// The lines around the file.
const AROUND_BYTES = 4 * 1024;
const LIMITS = { files: 1, fields: 0, parts: 1, headerPairs: 10, headerSize: AROUND_BYTES };

/**
 * Reads a form that consists of one file.
 * @returns null: none was chosen @throws HttpRefused, and what `onLarge` throws
 */
export async function readUpload(
  request: IncomingMessage,
  { limitBytes, onLarge }: { limitBytes: number; onLarge: () => void },
): Promise<Upload | null> {
  const type = request.headers['content-type'] ?? '';
  if (!type.toLowerCase().startsWith(TYPE))
    throw new HttpRefused({ reason: 'content_type_unsupported', types: [TYPE] });
  const bytes = await readBytes(request, {
    ...{ limitBytes: limitBytes + AROUND_BYTES, withinMs: UPLOAD_MS, onLarge },
  });
  const upload = await fileOf(type, bytes).catch(() => null);
  if (upload === null) throw new HttpRefused({ reason: 'request_malformed' });
  return upload.bytes.length === 0 ? null : upload;
}

/** @throws Error for what is no form, or has anything but one file */
function fileOf(type: string, form: Buffer): Promise<Upload | null> {
  return new Promise((resolve, reject) => {
    const parser = new Busboy({ headers: { 'content-type': type }, limits: LIMITS });
    let upload: Upload | null = null;
    const refuse = () => reject(new Error('not a form of one file'));
    parser.on('file', (_field, file, filename) => {
      const pieces: Buffer[] = [];
      file.on('error', refuse);
      file.on('data', (piece: Buffer) => void pieces.push(piece));
      file.on('end', () => {
        const name = [...storable(filename ?? '')].slice(0, NAME_MAX).join('');
        upload = { name, bytes: Buffer.concat(pieces) };
      });
    });
    parser.on('partsLimit', refuse).on('fieldsLimit', refuse).on('error', refuse);
    parser.on('finish', () => resolve(upload));
    parser.end(form);
  });
}
