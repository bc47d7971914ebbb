import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { TestRunner } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** Why {@link undisturbed} ran its scenario again, one entry for each time. */
    runAgain?: string[];
  }
}

const TRIES = 3;
const TICK_MS = 50;
const PROBE_EVERY_MS = 100;
const STALL_MS = 500;

/** A server that a scenario depends on. */
export interface Probe {
  /** What it is called where it stood still. */
  server: string;
  /** Asks it for next to nothing. */
  ask: () => Promise<unknown>;
  /** Its process, where it is one: the time that it computed is no standstill. */
  pid?: number | undefined;
}

/** Thrown by a scenario that has itself seen that it was disturbed, and so has shown nothing. */
export class Disturbed extends Error {}

/**
 * For scenarios with a limit of time in them, and for nothing else: no property, nothing that measures how much this process computes
 * (which is `computedMs`). Where one fails and this process, or one of the servers asked by the probes, stood still for half a
 * second meanwhile, that may be why: it is run again, up to three times in all. Each time is printed, and counted at the end of
 * the run. Otherwise its failure counts.
 */
export function undisturbed<Args extends unknown[]>(
  scenario: (...args: Args) => Promise<void> | void,
  probes: () => Probe[] = () => [],
): (...args: Args) => Promise<void> {
  return async (...args) => {
    for (let time = 1; ; time += 1) {
      const stalls = watchStalls(probes());
      try {
        await scenario(...args);
        return;
      } catch (error) {
        const cause = error instanceof Disturbed ? error.message : await stalls.worst();
        if (cause === null || time === TRIES) throw error;
        noteRunAgain(cause, error);
      } finally {
        await stalls.end();
      }
    }
  };
}

/** Prints that a step was taken again, why, and what it had failed with; counted at the end of the run. */
export function noteRunAgain(cause: string, error: unknown): void {
  const test = TestRunner.getCurrentTest();
  const message = error instanceof Error ? error.message : String(error);
  console.warn(`Run again: ${test?.fullTestName ?? 'a scenario'}: ${cause}; it had failed with: ${message}`);
  if (test !== undefined) test.meta.runAgain = [...(test.meta.runAgain ?? []), cause];
}

interface Watch {
  name: string;
  /** The longest standstill up to now, in milliseconds. */
  longestMs: () => Promise<number> | number;
  end: () => Promise<void>;
}

function watchStalls(probes: Probe[]): { worst(): Promise<string | null>; end(): Promise<void> } {
  const own = watchLateness();
  const watches = [watchThisProcess(), ...probes.map((probe) => watchServer(probe, own.lateMs))];
  return {
    async worst() {
      const found: string[] = [];
      for (const { name, longestMs } of watches) {
        const ms = await longestMs();
        if (ms >= STALL_MS) found.push(`${name} stood still for ${Math.round(ms)} ms`);
      }
      return found.length === 0 ? null : found.join(', ');
    },
    async end() {
      own.end();
      for (const { end } of watches) await end();
    },
  };
}

// A thread beside this one's, which only looks at the clock: what this thread computes does not keep it from that, a machine that stands
// still does. It counts standstills, and keeps how long the last one took.
const CLOCK_WATCHER = `
  const { workerData } = require('node:worker_threads');
  const found = new Int32Array(workerData.found);
  let last = performance.now();
  setInterval(() => {
    const behind = performance.now() - last - ${TICK_MS};
    last = performance.now();
    if (behind < ${STALL_MS}) return;
    Atomics.store(found, 1, behind);
    Atomics.add(found, 0, 1);
  }, ${TICK_MS});
`;

let standstills: Int32Array | null = null;

function watchedClock(): Int32Array {
  if (standstills !== null) return standstills;
  standstills = new Int32Array(new SharedArrayBuffer(8));
  const workerData = { found: standstills.buffer };
  new Worker(CLOCK_WATCHER, { eval: true, execArgv: [], workerData }).unref();
  return standstills;
}

function watchThisProcess(): Watch {
  const found = watchedClock();
  const before = Atomics.load(found, 0);
  return {
    name: 'this process',
    async longestMs() {
      // Where it has only just woken up again, the other thread has still to look.
      await delay(2 * TICK_MS);
      return Atomics.load(found, 0) > before ? Atomics.load(found, 1) : 0;
    },
    end: () => Promise.resolve(),
  };
}

/** By how much this thread's own timers have been late in all, whatever the reason. */
function watchLateness(): { lateMs: () => number; end: () => void } {
  let last = performance.now();
  let late = 0;
  const look = (): number => {
    const now = performance.now();
    late += Math.max(0, now - last - TICK_MS);
    last = now;
    return late;
  };
  const ticking = setInterval(look, TICK_MS);
  return { lateMs: look, end: () => clearInterval(ticking) };
}

// How long it took to answer, without what this process was late to hear of it, and without what the server computed.
function watchServer({ server, ask, pid }: Probe, lateMs: () => number): Watch {
  let ended = false;
  let longest = 0;
  const begin = () => ({ at: performance.now(), late: lateMs(), computed: computedBy(pid) });
  let asked: ReturnType<typeof begin> | null = null;
  const look = (): number => {
    if (asked === null) return longest;
    const explained = lateMs() - asked.late + (computedBy(pid) - asked.computed);
    longest = Math.max(longest, performance.now() - asked.at - explained);
    return longest;
  };
  const watch = async (): Promise<void> => {
    while (!ended) {
      asked = begin();
      // One that is refused has been answered too.
      await ask().catch(() => undefined);
      look();
      asked = null;
      await delay(PROBE_EVERY_MS);
    }
  };
  const watching = watch();
  return {
    name: server,
    longestMs: look,
    end: () => {
      ended = true;
      return watching;
    },
  };
}

const MS_PER_CLOCK_TICK = 10;

/** How long a process has computed, in milliseconds; 0 where the system does not tell. */
function computedBy(pid: number | undefined): number {
  if (pid === undefined) return 0;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // After the name, which may contain anything: the third field is the first one here, user and system time are the 14th and 15th.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * MS_PER_CLOCK_TICK;
  } catch {
    return 0;
  }
}
