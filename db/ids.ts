import { encodeTime, monotonicFactory } from 'ulid';

const nextUlid = monotonicFactory();

/** What an id stands for (v2.3.0, Resources and their fields; `key_` and `st_` are ours). */
export type IdPrefix =
  'cl' | 'key' | 'msg' | 'req' | 'evt' | 'in' | 'tpl' | 'ct' | 'gr' | 'st' | 'clk' | 'hlr';

/** A new id such as `msg_01kaj…`: bytewise order is the order of making, also within one millisecond of a process. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${nextUlid().toLowerCase()}`;
}

/** Below every id made at or after an instant (epoch milliseconds) by a process whose clock is right. */
export function idFloor(prefix: IdPrefix, instant: number): string {
  return `${prefix}_${encodeTime(Math.max(0, instant)).toLowerCase()}`;
}
