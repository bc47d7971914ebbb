import type { ByteEncoding } from '../../domain/inbound.ts';
import type { SmppSettings } from './settings.ts';

const COMPRESSED = 0x20;
const ALPHABETS = ['gsm7', 'binary', 'ucs2', null] as const;

/**
 * How the bytes under a data_coding are to be read (SMPP 3.4, 5.2.19; from 0x10 on 3GPP TS 23.038, 4). Alphabets we have
 * no table for count as ISO 8859-1: all of them have ASCII's letters, so a reply such as STOP is understood.
 *
 * @returns `binary` for bytes that are said to be no text; null for what cannot be read (compressed)
 */
export function encodingOf(
  dataCoding: number,
  defaultAlphabet: SmppSettings['defaultAlphabet'],
): ByteEncoding | 'binary' | null {
  if (dataCoding === 0x00) return defaultAlphabet;
  if (dataCoding === 0x02 || dataCoding === 0x04) return 'binary';
  if (dataCoding === 0x08) return 'ucs2';
  if (dataCoding < 0x10) return 'latin1';
  if (dataCoding < 0x80)
    return (dataCoding & COMPRESSED) !== 0 ? null : (ALPHABETS[(dataCoding >> 2) & 3] ?? null);
  if (dataCoding < 0xc0) return 'latin1';
  if (dataCoding < 0xe0) return 'gsm7';
  if (dataCoding < 0xf0) return 'ucs2';
  return (dataCoding & 0x04) !== 0 ? 'binary' : 'gsm7';
}

/** Whether bytes that are said to be no text are one nevertheless: ISO 8859-1 without control characters but line ends and tabs. */
export function isText(bytes: Buffer): boolean {
  return (
    bytes.length > 0 &&
    bytes.every((byte) => (byte >= 0x20 && byte < 0x7f) || byte >= 0xa0 || [9, 10, 13].includes(byte))
  );
}
