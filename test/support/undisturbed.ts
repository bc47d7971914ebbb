const TRIES = 3;
const TICK_MS = 50;
const STALL_MS = 500;

/**
 * For scenarios with a limit of time, or in which code of this process keeps time to the second. Where one fails and this process stood still for half
 * a second meanwhile, that may be why: it is run again, up to three times in all. Otherwise its failure counts.
 */
export function undisturbed<Args extends unknown[]>(
  scenario: (...args: Args) => Promise<void> | void,
): (...args: Args) => Promise<void> {
  return async (...args) => {
    for (let time = 1; ; time += 1) {
      const stalls = watchStalls();
      try {
        await scenario(...args);
        return;
      } catch (error) {
        if (stalls.longestMs() < STALL_MS || time === TRIES) throw error;
      } finally {
        stalls.end();
      }
    }
  };
}

function watchStalls(): { longestMs(): number; end(): void } {
  let last = performance.now();
  let longest = 0;
  const look = (): void => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  };
  const ticking = setInterval(look, TICK_MS);
  return {
    longestMs() {
      look();
      return longest;
    },
    end: () => clearInterval(ticking),
  };
}
