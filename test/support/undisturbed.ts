import { setTimeout as delay } from 'node:timers/promises';

const TRIES = 3;
const TICK_MS = 50;
const PROBE_EVERY_MS = 100;
const STALL_MS = 500;

/** Asks a server that a scenario depends on for next to nothing. */
export type Probe = () => Promise<unknown>;

/**
 * For scenarios with a limit of time, or in which code of this process keeps time to the second. Where one fails and this process, or one of the servers
 * asked by the probes, stood still for half a second meanwhile, that may be why: it is run again, up to three times in all. Otherwise its failure counts.
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
        if (stalls.longestMs() < STALL_MS || time === TRIES) throw error;
      } finally {
        await stalls.end();
      }
    }
  };
}

function watchStalls(probes: Probe[]): { longestMs(): number; end(): Promise<void> } {
  const watches = [watchThisProcess(), ...probes.map(watchServer)];
  return {
    longestMs: () => Math.max(...watches.map(({ longestMs }) => longestMs())),
    async end() {
      for (const { end } of watches) await end();
    },
  };
}

interface Watch {
  longestMs: () => number;
  end: () => Promise<void>;
}

function watchThisProcess(): Watch {
  let last = performance.now();
  let longest = 0;
  const look = (): number => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
    return longest;
  };
  const ticking = setInterval(look, TICK_MS);
  return { longestMs: look, end: () => Promise.resolve(clearInterval(ticking)) };
}

function watchServer(probe: Probe): Watch {
  let ended = false;
  let asked = performance.now();
  let longest = 0;
  const look = (): number => {
    longest = Math.max(longest, performance.now() - asked);
    return longest;
  };
  const watch = async (): Promise<void> => {
    while (!ended) {
      asked = performance.now();
      // One that is refused has been answered too.
      await probe().catch(() => undefined);
      look();
      await delay(PROBE_EVERY_MS);
      asked = performance.now();
    }
  };
  const watching = watch();
  return {
    longestMs: look,
    end: () => {
      ended = true;
      return watching;
    },
  };
}
