import { setTimeout as delay } from 'node:timers/promises';

/** Runs a task again and again, `everyMs` after it last ended, until stopped; failures go to `onError`. */
export function repeat(
  everyMs: number,
  task: () => Promise<void>,
  onError: (error: unknown) => void,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const turn = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await task().catch(onError);
      await delay(everyMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const running = turn();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
