import { fork } from 'node:child_process';
import { once } from 'node:events';

/** A process that counts what comes to it, on a free port of 127.0.0.1. */
export interface Counting<T> {
  port: number;
  pid: number;
  /** Since the last time it was asked. */
  counts(): Promise<T>;
  stop(): Promise<void>;
}

/** Starts one of the benchmark's own ends of the line: it tells its port, and then on every message what it counted. */
export async function startCounting<T>(file: string, args: string[] = []): Promise<Counting<T>> {
  const child = fork(new URL(file, import.meta.url), args, { execArgv: ['--import', 'tsx'] });
  const [port] = (await once(child, 'message')) as [number];
  return {
    port,
    pid: child.pid!,
    async counts() {
      const answer = once(child, 'message');
      child.send('counts');
      return ((await answer) as [T])[0];
    },
    async stop() {
      const end = once(child, 'exit');
      child.kill();
      await end;
    },
  };
}
