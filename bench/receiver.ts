import { type Counting, startCounting } from './counting.ts';

/** What the receiver took; the instant in epoch milliseconds. */
export interface ReceiverCounts {
  /** Events told for the first time. */
  calls: number;
  lastAt: number;
  /** Calls without a signature. */
  unsigned: number;
  /** Calls for an event that was told before. */
  repeated: number;
}

export type Receiver = Counting<ReceiverCounts>;

/** Receives every webhook under comparison, in a process of its own. */
export function startReceiver(): Promise<Receiver> {
  return startCounting('receiverProcess.ts');
}
