import { createCounts } from '../concurrency/semaphore.ts';

/**
 * Admits calls that are awaited within a workflow task: far cheaper for Temporal than an activity, but each occupies a task slot. So only
 * keys whose last call was quick are admitted, and only a limited number at a time.
 */
export interface QuickLane {
  /** Takes a slot, with at most `most` of this key. @returns releases it; null if none is free or `key` is not known to be quick */
  tryAcquire(key: string, most?: number): (() => void) | null;
  /** Records how a call of `key` went, whether it was admitted here or not. */
  record(key: string, took: Timing): void;
}

interface Timing {
  ms: number;
  well: boolean;
}

interface QuickLaneOptions {
  /** The longest call that counts as quick, in milliseconds. */
  quickMs: number;
  places: number;
  placesEach: number;
}

// Beyond this the key not seen for longest is dropped, and has to prove quick again.
const KNOWN_MAX = 1_000;

export function createQuickLane({ quickMs, places, placesEach }: QuickLaneOptions): QuickLane {
  const quick = new Set<string>();
  const inside = createCounts();
  let insideAll = 0;

  return {
    record(key, { ms, well }) {
      quick.delete(key);
      if (!well || ms > quickMs) return;
      quick.add(key);
      if (quick.size > KNOWN_MAX) quick.delete(quick.values().next().value!);
    },
    tryAcquire(key, most = placesEach) {
      if (!quick.has(key) || insideAll >= places) return null;
      if (inside.of(key) >= Math.min(most, placesEach)) return null;
      inside.add(key);
      insideAll += 1;
      return () => {
        inside.remove(key);
        insideAll -= 1;
      };
    },
  };
}
