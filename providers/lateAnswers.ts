import { setTimeout as delay } from 'node:timers/promises';
import { createRunning } from '../concurrency/running.ts';
import type { LateAnswer } from '../domain/submission.ts';
import type { ProviderHandlers } from './provider.ts';

const TRY_AGAIN_MS = [500, 2_000, 5_000, 15_000, 60_000];

/** Answers after the time-out on their way to the store: nobody will repeat them, so storing is tried several times. */
export function createLateAnswers(onError: (error: unknown) => void) {
  const stopping = new AbortController();
  const storing = createRunning();
  let handlers: ProviderHandlers | undefined;

  const store = async (reference: string, answer: LateAnswer): Promise<void> => {
    const arrivedAt = performance.now();
    for (const pause of [...TRY_AGAIN_MS, null]) {
      try {
        await handlers?.onLateAnswer(reference, answer, arrivedAt);
        return;
      } catch (error) {
        onError(error);
        if (pause === null || stopping.signal.aborted) return;
        await delay(pause, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  };

  return {
    start(to: ProviderHandlers): void {
      handlers = to;
    },
    keep(reference: string, answer: LateAnswer): void {
      storing.add(store(reference, answer));
    },
    /** Waits for those on their way, each tried once more at most. */
    async stop(): Promise<void> {
      stopping.abort();
      await storing.settled();
    },
  };
}
