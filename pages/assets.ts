import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parse } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';

/** A file that pages load. Its address names its content, so that browsers keep it for ever. */
export interface Asset {
  /** `/assets/style.0123456789abcdef.css`. */
  path: string;
  type: string;
  content: Buffer;
  brotli: Buffer;
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const HASH_DIGITS = 16;
const assets = new Map<string, Asset>();

/** Reads a file that is served from now on. @throws Error for a type that is not known */
export function asset(file: URL): Asset {
  const { name, ext } = parse(fileURLToPath(file));
  const type = TYPES[ext];
  if (type === undefined) throw new Error(`${name}${ext}: its media type is not known`);
  const content = readFileSync(file);
  const hash = createHash('sha256').update(content).digest('hex').slice(0, HASH_DIGITS);
  const read = { path: `/assets/${name}.${hash}${ext}`, type, content, brotli: brotliCompressSync(content) };
  assets.set(read.path, read);
  return read;
}

/** The response for a path below `/assets/`. @param acceptEncoding the request's header */
export function assetAnswer(path: string, acceptEncoding = '') {
  const found = assets.get(path);
  if (found === undefined)
    return { status: 404, headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body: 'not found' };
  const compressed = /\bbr\b/.test(acceptEncoding);
  const headers: Record<string, string> = {
    'Content-Type': found.type,
    'Cache-Control': 'public, max-age=31536000, immutable',
    Vary: 'Accept-Encoding',
    ...(compressed ? { 'Content-Encoding': 'br' } : {}),
  };
  return { status: 200, headers, body: compressed ? found.brotli : found.content };
}
