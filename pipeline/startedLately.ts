const GAP_MIN_MS = 5_000;
const IDS_MAX = 100_000;

/** What a process has started lately and the database still has as open: most of it only waits in its queue. */
export interface StartedLately {
  /** Remembers a start, or another one. */
  add(id: string): void;
  /** From when it is to be started again, epoch milliseconds; null where nothing is known of it. */
  dueAt(id: string): number | null;
}

/**
 * The gap between two starts of one doubles, as each is due once as long again has gone by as since the first: what waits for a long time is
 * started a few times, and a workflow that was lost after its start is made up for all the same.
 * @param idsMax of more than these the one whose start is longest ago is forgotten
 */
export function createStartedLately(idsMax = IDS_MAX): StartedLately {
  // In the order of their last starts.
  const starts = new Map<string, { first: number; due: number }>();
  return {
    add(id) {
      const now = Date.now();
      const first = starts.get(id)?.first ?? now;
      starts.delete(id);
      starts.set(id, { first, due: now + Math.max(now - first, GAP_MIN_MS) });
      for (const oldest of starts.keys()) {
        if (starts.size <= idsMax) break;
        starts.delete(oldest);
      }
    },
    dueAt: (id) => starts.get(id)?.due ?? null,
  };
}
