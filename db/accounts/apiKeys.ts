import { createHash, randomInt } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 40;
const SHOWN_LENGTH = 4;

export type KeyMode = 'test' | 'live';

/** A fresh API key: `key` goes to its owner once, `hash` and `hint` are what is kept. */
export interface NewApiKey {
  key: string;
  hash: Buffer;
  /** Prefix and last four characters (`pk_live_…x7Qa`), by which people tell keys apart. */
  hint: string;
}

/** Makes a key: `pk_test_` or `pk_live_` and 40 random base62 characters, 238 bits (v2.3.0, Authentication, 2). */
export function newApiKey(mode: KeyMode): NewApiKey {
  const prefix = `pk_${mode}_`;
  const random = Array.from({ length: RANDOM_LENGTH }, () =>
    ALPHABET.charAt(randomInt(ALPHABET.length)),
  ).join('');
  const key = prefix + random;
  return { key, hash: hashKey(key), hint: `${prefix}…${random.slice(-SHOWN_LENGTH)}` };
}

/**
 * SHA-256 of the whole key in UTF-8, prefix included; what `api_keys.hash` holds. A key is random enough that neither
 * salt nor a slow hash would add anything.
 */
export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key, 'utf8').digest();
}
