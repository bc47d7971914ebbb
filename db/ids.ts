import { randomFillSync } from 'node:crypto';
import { encodeTime, monotonicFactory } from 'ulid';
import type { IdPrefix } from '../domain/ids.ts';

// Asked of the system in one go: the library asks for each of the sixteen characters.
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

/** A new id such as `msg_01kaj…`: bytewise order is the order of making, also within one millisecond of a process. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${nextUlid().toLowerCase()}`;
}

/** Below every id made at or after an instant (epoch milliseconds) by a process whose clock is right. */
export function idFloor(prefix: IdPrefix, instant: number): string {
  return `${prefix}_${encodeTime(Math.max(0, instant)).toLowerCase()}`;
}
