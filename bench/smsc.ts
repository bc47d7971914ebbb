import { fork } from 'node:child_process';
import { once } from 'node:events';

/** What the SMSC saw; instants in epoch milliseconds. */
export interface SmscCounts {
  submits: number;
  /** Reports that were acknowledged. */
  reports: number;
  firstAt: number;
  lastAt: number;
}

/** An SMSC in a process of its own, on a free port of 127.0.0.1. */
export interface BenchSmsc {
  port: number;
  /** Since the last time it was asked. */
  counts(): Promise<SmscCounts>;
  stop(): Promise<void>;
}

/** @param reports whether every submit is reported delivered, at once */
export async function startBenchSmsc({ reports }: { reports: boolean }): Promise<BenchSmsc> {
  const child = fork(new URL('smscProcess.ts', import.meta.url), reports ? ['--reports'] : [], {
    execArgv: ['--import', 'tsx'],
  });
  const [port] = (await once(child, 'message')) as [number];
  return {
    port,
    async counts() {
      const answer = once(child, 'message');
      child.send('counts');
      return ((await answer) as [SmscCounts])[0];
    },
    async stop() {
      const end = once(child, 'exit');
      child.kill();
      await end;
    },
  };
}
