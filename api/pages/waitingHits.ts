import type { Click, KeptClick } from '../../db/links/clicks.ts';
import { DeadlineError } from '../../operations/outages.ts';

const LINKS_PER_STATEMENT = 50;
const HITS_PER_STATEMENT = 500;
// Each of them is a visitor's open request.
const WAITING_MAX = 10_000;

/** A hit whose visitor waits. */
export interface WaitingHit {
  click: Click | null;
  /** Epoch milliseconds: nobody waits for it after that. */
  until: number;
  resolve: (kept: KeptClick | null) => void;
  reject: (error: unknown) => void;
}

/** Hits by their link's token. */
export type HitsByLink = Map<string, WaitingHit[]>;

/** Hits that wait for a statement; those of one link are never in two statements at once. */
export interface WaitingHits {
  /** Puts a hit behind the others of its link; rejects it where too many wait. */
  add(token: string, hit: WaitingHit): void;
  /** As many as one statement takes, of links that are in none; hits that nobody waits for any more are rejected. */
  take(): HitsByLink;
  /** Lets the link be in a statement again. */
  release(token: string): void;
  /** Puts hits that were taken before the others of their link; it still has to be released. */
  putBack(token: string, hits: WaitingHit[]): void;
}

/** Nothing waits at first. */
export function createWaitingHits(): WaitingHits {
  const waiting: HitsByLink = new Map();
  /** Links in a statement, or left alone for a moment. */
  const underWay = new Set<string>();
  let count = 0;

  return {
    add(token, hit) {
      if (count >= WAITING_MAX) return hit.reject(tooLate());
      const hits = waiting.get(token) ?? [];
      hits.push(hit);
      waiting.set(token, hits);
      count += 1;
    },
    take() {
      const taken: HitsByLink = new Map();
      let room = HITS_PER_STATEMENT;
      for (const [token, hits] of waiting) {
        if (taken.size === LINKS_PER_STATEMENT || room === 0) break;
        if (underWay.has(token)) continue;
        const some = hits.splice(0, room);
        // What is left of it has its turn behind the others.
        waiting.delete(token);
        if (hits.length > 0) waiting.set(token, hits);
        count -= some.length;
        const timely = some.filter(({ until, reject }) => until > Date.now() || reject(tooLate()));
        if (timely.length === 0) continue;
        room -= timely.length;
        taken.set(token, timely);
        underWay.add(token);
      }
      return taken;
    },
    release: (token) => void underWay.delete(token),
    putBack(token, hits) {
      waiting.set(token, [...hits, ...(waiting.get(token) ?? [])]);
      count += hits.length;
    },
  };
}

const tooLate = () => new DeadlineError('no turn in time');
