import { createCounts } from '../concurrency/semaphore.ts';

/**
 * Who may be waited for within a workflow task. A step there costs Temporal far less than an activity of its own, but it
 * holds a place among the workflow tasks for as long as it takes: so only those get it who were quick the last time, and
 * only so many at once.
 */
export interface QuickLane {
  /**
   * Takes a place for `key`.
   * @param most places of this key, where it has fewer than others
   * @returns what gives the place back; null where there is none, or `key` is not known to be quick
   */
  enter(key: string, most?: number): (() => void) | null;
  /** Learns how quick `key` is, whichever way it went. */
  learn(key: string, took: Timing): void;
}

/** How something went. */
interface Timing {
  ms: number;
  well: boolean;
}

interface QuickLaneOptions {
  /** What still counts as quick, in milliseconds. */
  quickMs: number;
  /** In all. */
  places: number;
  /** Of one key. */
  placesEach: number;
}

// Those not seen for longest are forgotten first, and have to be quick once again.
const KNOWN_MAX = 1_000;

export function createQuickLane({ quickMs, places, placesEach }: QuickLaneOptions): QuickLane {
  const quick = new Set<string>();
  const inside = createCounts();
  let insideAll = 0;

  return {
    learn(key, { ms, well }) {
      quick.delete(key);
      if (!well || ms > quickMs) return;
      quick.add(key);
      if (quick.size > KNOWN_MAX) quick.delete(quick.values().next().value!);
    },
    enter(key, most = placesEach) {
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
