import { type Counting, startCounting } from './counting.ts';

/** What the SMSC saw; instants in epoch milliseconds. */
export interface SmscCounts {
  submits: number;
  /** Reports that were acknowledged. */
  reports: number;
  firstAt: number;
  lastAt: number;
}

export type BenchSmsc = Counting<SmscCounts>;

/** @param reports whether every submit is reported delivered, at once */
export function startBenchSmsc({ reports }: { reports: boolean }): Promise<BenchSmsc> {
  return startCounting('smscProcess.ts', reports ? ['--reports'] : []);
}
