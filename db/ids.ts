import { decodeTime, encodeTime, monotonicFactory } from 'ulid';
import type { IdPrefix } from '../domain/ids.ts';

const nextUlid = monotonicFactory();

/** A new id such as `msg_01kaj…`: bytewise order is the order of making, also within one millisecond of a process. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${nextUlid().toLowerCase()}`;
}

/** When an id was made, epoch milliseconds of the clock of its process. */
export function instantOf(id: string): number {
  return decodeTime(id.slice(id.indexOf('_') + 1).toUpperCase());
}

/** Below every id made at or after an instant (epoch milliseconds) by a process whose clock is right. */
export function idFloor(prefix: IdPrefix, instant: number): string {
  return `${prefix}_${encodeTime(Math.max(0, instant)).toLowerCase()}`;
}
