import { createCounts } from '../concurrency/counts.ts';
import { ATTEMPT_TIMEOUT_MS } from '../domain/webhooks.ts';

/** How many of a worker's attempts are one account's at the most, so that a receiver that hangs keeps none of another's waiting. */
export interface WebhookPlaces {
  /** @returns what gives the place back; or, where the account has none left, after how many milliseconds to ask again */
  enter(accountId: string): { leave: () => void } | { againInMs: number };
}

// Those that wait ask for their place now and then, each in its turn: none is asked about for longer than this.
const AGAIN_MAX_MS = 60_000;

/**
 * @param each places of one account. Whoever finds none is told when its turn would come if all of them were held for as long as
 *   an attempt may take: however many wait, few ask at a time
 */
export function createWebhookPlaces(each: number): WebhookPlaces {
  const inside = createCounts();
  const turns = new Map<string, number>();
  const stepMs = ATTEMPT_TIMEOUT_MS / each;

  function leaving(accountId: string): () => void {
    return () => {
      inside.remove(accountId);
      if (inside.of(accountId) === 0) turns.delete(accountId);
    };
  }

  return {
    enter(accountId) {
      if (inside.of(accountId) < each) {
        inside.add(accountId);
        return { leave: leaving(accountId) };
      }
      const now = Date.now();
      // The first of them after a full attempt's time at the latest, and within a second where attempts are quick.
      const turn = Math.max(turns.get(accountId) ?? 0, now + 1_000) + stepMs;
      turns.set(accountId, Math.min(turn, now + AGAIN_MAX_MS));
      return { againInMs: Math.round(Math.min(turn - now, AGAIN_MAX_MS)) };
    },
  };
}
