import { createSemaphore } from '../concurrency/semaphore.ts';
import type { StartGap } from './startGap.ts';
import { createStartQueue } from './startQueue.ts';

/** Whose a start is. */
export interface Whose {
  accountId: string;
  requestId: string;
  priority: boolean;
  /** Its request has several messages. */
  batched: boolean;
}

/** A start that waits. */
export interface Waiting extends Whose {
  since: number;
}

/**
 * Turns at starting the many workflows of batches, no faster than this worker has places for their first tasks. Started
 * faster, they would wait at the Temporal server, each for a transaction more than one that brings its task along, and
 * others would wait behind them.
 */
export interface StartTurns {
  /**
   * Waits for a turn. Priority goes first, accounts take turns, and of one account's requests the oldest goes first.
   * @returns to be called once, with whether the start brought its first task along; null where it started nothing
   * @throws the signal's reason, when it is aborted before
   */
  take(whose: Whose, signal: AbortSignal): Promise<(broughtTask: boolean | null) => void>;
}

// Enough for one to be under way while another is being answered.
const STARTS_AT_ONCE = 4;
// After a start that found no place.
const PAUSE_MS = 25;
const PAUSE_MAX_MS = 400;
// A server that hands out no tasks so, or a worker that others keep busy: then nothing is gained by waiting.
const PAUSES_MAX = 20;
// A message waits for acceptances no longer: they come faster than messages can be started, and may go on doing so.
const GIVES_WAY_MS = 5_000;
const PRIORITY_GIVES_WAY_MS = 500;
// But for batches, which go on at twice the pace then: most of one's messages wait for longer whatever others do.
const BATCHED_SHARE = 0.5;
// Whoever starts few is not in anybody's way: a start after so long without one waits neither for acceptances nor for places.
const SELDOM_MS = 150;
// However many accounts there are.
const SELDOM_GAP_MS = 50;

/** One for each worker process, whose places it goes by. @param gap how far apart they are at least */
export function createStartTurns(gap: Pick<StartGap, 'ms'>): StartTurns {
  // By account, its last turn and when it was.
  const lastTurns = new Map<string, { turn: number; at: number }>();
  let turn = 0;
  let lastAt = -Infinity;
  let lastSeldomAt = -Infinity;
  let untilGap: NodeJS.Timeout | undefined;
  let looksAt = Infinity;
  const pauses = createPauses(() => turns.look());
  const turns = createSemaphore<Waiting>({
    places: STARTS_AT_ONCE,
    queue: createStartQueue(hasWaited),
    mayEnter: (one) => isInTime(one) || isSeldom(one),
    goesBefore(a, b) {
      if (a.priority !== b.priority) return a.priority;
      if (a.accountId === b.accountId) return a.requestId < b.requestId;
      return (lastTurns.get(a.accountId)?.turn ?? 0) < (lastTurns.get(b.accountId)?.turn ?? 0);
    },
    entered(one) {
      const at = Date.now();
      if (!isInTime(one)) lastSeldomAt = at;
      lastAt = at;
      lastTurns.set(one.accountId, { turn: (turn += 1), at });
      if (turns.waiting() === 0) forget(at - SELDOM_MS);
    },
  });

  function forget(before: number): void {
    for (const [account, last] of lastTurns) if (last.at < before) lastTurns.delete(account);
  }

  function isInTime(one: Waiting): boolean {
    return !pauses.isOn() && isFarEnough(gapBefore(one));
  }

  function gapBefore(one: Waiting): number {
    if (!hasWaited(one)) return gap.ms();
    return one.batched ? gap.ms() * BATCHED_SHARE : 0;
  }

  function isSeldom({ accountId }: Waiting): boolean {
    const now = Date.now();
    const last = lastTurns.get(accountId)?.at ?? -Infinity;
    return now - last >= SELDOM_MS && now - lastSeldomAt >= SELDOM_GAP_MS;
  }

  /** Otherwise looks again when it is. */
  function isFarEnough(gapMs: number): boolean {
    const at = lastAt + gapMs;
    const rest = at - Date.now();
    if (rest <= 0) return true;
    // Whoever is asked first may have to keep more distance than others.
    if (at < looksAt) {
      clearTimeout(untilGap);
      looksAt = at;
      untilGap = setTimeout(() => {
        looksAt = Infinity;
        turns.look();
      }, rest);
    }
    return false;
  }

  return {
    async take(whose, signal) {
      signal.throwIfAborted();
      const leave = await turns.enter(
        { ...whose, since: Date.now() },
        { signal, error: () => signal.reason as Error },
      );
      return (broughtTask) => {
        if (broughtTask !== null) pauses.learn(broughtTask);
        leave();
      };
    },
  };
}

/** Then it gives way to acceptances no longer. */
function hasWaited({ priority, since }: Waiting): boolean {
  return Date.now() - since >= (priority ? PRIORITY_GIVES_WAY_MS : GIVES_WAY_MS);
}

/** Pauses after starts that found no place, each twice as long as the one before. @param over called when one is over */
function createPauses(over: () => void): { isOn(): boolean; learn(broughtTask: boolean): void } {
  let inARow = 0;
  let pause: NodeJS.Timeout | undefined;
  const end = (): void => {
    pause = undefined;
    over();
  };
  return {
    isOn: () => pause !== undefined,
    learn(broughtTask) {
      if (broughtTask) inARow = 0;
      // In a pause, those that were under way before say nothing new.
      if (broughtTask || pause !== undefined) return;
      inARow += 1;
      if (inARow > PAUSES_MAX) return;
      pause = setTimeout(end, Math.min(PAUSE_MS * 2 ** (inARow - 1), PAUSE_MAX_MS));
    },
  };
}
