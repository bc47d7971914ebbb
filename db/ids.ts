import { createHash, randomFillSync, randomInt } from 'node:crypto';
import { encodeTime, monotonicFactory } from 'ulid';
import type { IdPrefix } from '../domain/ids.ts';

// Random bytes in bulk: the library would make one system call for each of the sixteen characters.
const pool = new Uint8Array(4096);
let drawn = pool.length;

function random(): number {
  if (drawn === pool.length) {
    randomFillSync(pool);
    drawn = 0;
  }
  return pool[drawn++]! / 256;
}

const nextUlid = monotonicFactory(random);

/** A new id such as `msg_01kaj…`: bytewise order is creation order, also within one millisecond of a process. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${nextUlid().toLowerCase()}`;
}

/** A lower bound of the ids made at or after an instant (epoch milliseconds), if the maker's clock is right. */
export function idFloor(prefix: IdPrefix, instant: number): string {
  return `${prefix}_${encodeTime(Math.max(0, instant)).toLowerCase()}`;
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A random base62 token for public links and API keys: about 6 bits per character. */
export function randomToken(length: number): string {
  return Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}

/** SHA-256 of a random secret, as it is stored: a key, a token, a link. It has enough entropy to need neither salt nor a slow hash. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
