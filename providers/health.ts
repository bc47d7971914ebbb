import { setTimeout as delay } from 'node:timers/promises';
import type { ProviderHandlers, ProviderState } from './provider.ts';
import { createRunning } from '../concurrency/tasks.ts';
import type { LateAnswer } from '../domain/submission.ts';

// After so many failures in a row, nothing more is handed over until the provider answers a probe.
const FAILURES_IN_ROW = 3;
// More than that are not one by one to blame.
const BLAMED_MAX = 100;
const PROBE_FIRST_MS = 1_000;
const PROBE_LONGEST_MS = 30_000;

/** Whether the provider works, as far as its answers show. */
export interface Health {
  works(): boolean;
  failures(): number;
  lastError(): { text: string; at: Date } | null;
  /** The provider did its part: took a message, or judged it. */
  succeeded(): void;
  /**
   * It did not, or there was no answer.
   * @param certain nothing more is to be tried before a probe
   * @param about what may itself be to blame, by its id: however often it fails in a row, it counts once
   */
  failed(text: string, certain?: boolean, about?: string | null): void;
  /** Begins to probe, whenever the provider does not work, until stopped; the first probe at once. */
  start(): void;
  stop(): Promise<void>;
}

/**
 * Nothing is handed over before the first probe succeeded. The pause between probes doubles from a second to half a
 * minute.
 *
 * @param probe asks the provider whether it would work; null when it would, else what is the matter. `lastError` is what
 *   failed before. Must not throw.
 */
export function createHealth(
  probe: (signal: AbortSignal, lastError: string | null) => Promise<string | null>,
): Health {
  const stopping = new AbortController();
  let probing: Promise<void> | null = null;
  let started = false;
  let works = false;
  let inRow = 0;
  const blamed = new Set<string>();
  let failures = 0;
  let last: { text: string; at: Date } | null = null;

  const note = (text: string) => {
    failures += 1;
    last = { text, at: new Date() };
  };
  const untilWorking = async () => {
    for (let pause = PROBE_FIRST_MS; !stopping.signal.aborted;) {
      const problem = await probe(stopping.signal, last?.text ?? null);
      if (stopping.signal.aborted) return;
      if (problem === null) {
        works = true;
        // One more failure is enough to stop again: a probe proves less than a message.
        inRow = Math.min(inRow, FAILURES_IN_ROW - 1);
        return;
      }
      note(problem);
      await delay(pause, undefined, { signal: stopping.signal }).catch(() => undefined);
      pause = Math.min(pause * 2, PROBE_LONGEST_MS);
    }
  };
  const beginProbing = () => {
    if (!started || probing !== null || stopping.signal.aborted) return;
    probing = untilWorking().finally(() => {
      probing = null;
    });
  };

  return {
    works: () => works,
    failures: () => failures,
    lastError: () => last,
    succeeded() {
      inRow = 0;
      blamed.clear();
    },
    failed(text, certain = false, about = null) {
      note(text);
      if (about !== null && blamed.has(about)) return;
      if (about !== null && blamed.size < BLAMED_MAX) blamed.add(about);
      inRow = certain ? FAILURES_IN_ROW : inRow + 1;
      if (inRow < FAILURES_IN_ROW) return;
      works = false;
      beginProbing();
    },
    start() {
      started = true;
      beginProbing();
    },
    async stop() {
      stopping.abort();
      works = false;
      await probing;
    },
  };
}

/** The state of a provider without sessions of its own. @param inWords an error's code, for staff's eyes */
export function stateBy(
  health: Health,
  load: Pick<ProviderState, 'window' | 'inFlight'>,
  inWords: (code: string) => string,
): ProviderState {
  const last = health.lastError();
  return {
    takesSubmits: health.works(),
    sessions: health.works() ? 1 : 0,
    sessionsWanted: 1,
    ...load,
    failures: health.failures(),
    lastError: last === null ? null : inWords(last.text),
    lastErrorAt: last?.at ?? null,
  };
}

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
