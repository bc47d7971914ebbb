import { setTimeout as delay } from 'node:timers/promises';
import type { ProviderHandlers, ProviderState } from './provider.ts';
import { createTaskTracker } from '../concurrency/tasks.ts';
import type { LateAnswer } from '../domain/submission.ts';

// After this many consecutive failures nothing is submitted until a probe succeeds.
const MAX_CONSECUTIVE_FAILURES = 3;
// With more failing ids than this, every failure counts: the provider is at fault, not single e-mails.
const BLAMED_MAX = 100;
const PROBE_FIRST_MS = 1_000;
const PROBE_LONGEST_MS = 30_000;

export interface Health {
  works(): boolean;
  failures(): number;
  lastError(): { text: string; at: Date } | null;
  succeeded(): void;
  /** `certain`: submit nothing more before a probe. `about`: id of what may itself be to blame; its consecutive failures count once. */
  failed(text: string, certain?: boolean, about?: string | null): void;
  /** Probes whenever the provider does not work, until stopped; the first probe runs immediately. */
  start(): void;
  stop(): Promise<void>;
}

/**
 * Circuit breaker: nothing is submitted before a probe has succeeded. The pause between probes doubles from 1 s to 30 s.
 * @param probe resolves to null when the provider works, else to the problem; `lastError` is the last failure. Must not throw.
 */
export function createHealth(
  probe: (signal: AbortSignal, lastError: string | null) => Promise<string | null>,
): Health {
  const stopping = new AbortController();
  let probing: Promise<void> | null = null;
  let started = false;
  let works = false;
  let consecutiveFailures = 0;
  const blamed = new Set<string>();
  let failures = 0;
  let last: { text: string; at: Date } | null = null;

  const note = (text: string) => {
    failures += 1;
    last = { text, at: new Date() };
  };
  const probeUntilUp = async () => {
    for (let pause = PROBE_FIRST_MS; !stopping.signal.aborted;) {
      const problem = await probe(stopping.signal, last?.text ?? null);
      if (stopping.signal.aborted) return;
      if (problem === null) {
        works = true;
        // One more failure is enough to stop again: a probe proves less than a message.
        consecutiveFailures = Math.min(consecutiveFailures, MAX_CONSECUTIVE_FAILURES - 1);
        return;
      }
      note(problem);
      await delay(pause, undefined, { signal: stopping.signal }).catch(() => undefined);
      pause = Math.min(pause * 2, PROBE_LONGEST_MS);
    }
  };
  const beginProbing = () => {
    if (!started || probing !== null || stopping.signal.aborted) return;
    probing = probeUntilUp().finally(() => {
      probing = null;
    });
  };

  return {
    works: () => works,
    failures: () => failures,
    lastError: () => last,
    succeeded() {
      consecutiveFailures = 0;
      blamed.clear();
    },
    failed(text, certain = false, about = null) {
      note(text);
      if (about !== null && blamed.has(about)) return;
      if (about !== null && blamed.size < BLAMED_MAX) blamed.add(about);
      consecutiveFailures = certain ? MAX_CONSECUTIVE_FAILURES : consecutiveFailures + 1;
      if (consecutiveFailures < MAX_CONSECUTIVE_FAILURES) return;
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

/** State of a provider without sessions. @param describeCode describes an error code for staff */
export function stateBy(
  health: Health,
  load: Pick<ProviderState, 'window' | 'inFlight'>,
  describeCode: (code: string) => string,
): ProviderState {
  const last = health.lastError();
  return {
    takesSubmits: health.works(),
    sessions: health.works() ? 1 : 0,
    sessionsWanted: 1,
    ...load,
    failures: health.failures(),
    lastError: last === null ? null : describeCode(last.text),
    lastErrorAt: last?.at ?? null,
  };
}

const RETRY_DELAYS_MS = [500, 2_000, 5_000, 15_000, 60_000];

/** Stores answers that arrive after the timeout. Providers do not repeat them, so storing is retried. */
export function createLateAnswers(onError: (error: unknown) => void) {
  const stopping = new AbortController();
  const storing = createTaskTracker();
  let handlers: ProviderHandlers | undefined;

  const store = async (reference: string, answer: LateAnswer): Promise<void> => {
    const arrivedAt = performance.now();
    for (const pause of [...RETRY_DELAYS_MS, null]) {
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
    async stop(): Promise<void> {
      stopping.abort();
      await storing.settled();
    },
  };
}
