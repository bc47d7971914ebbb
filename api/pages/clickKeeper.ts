import { type Click, type KeptClick, type LinkHits, storeClicks } from '../../db/links/clicks.ts';
import type { Sql } from '../../db/connection.ts';
import type { Services } from '../services.ts';
import { createWaitingHits, type HitsByLink, type WaitingHit } from './waitingHits.ts';

// Of the database's connections hits never hold more than these, however many come at once.
const STATEMENTS_AT_ONCE = 2;
// Somebody else has the link locked for a moment: a worker that counts, another process.
const AGAIN_MS = 15;

/** Stores hits on tracked links, many in one statement while many come. */
export interface ClickKeeper {
  /**
   * Looks a link up and stores the hit before it resolves; null when there is no such link.
   * @param click null: only looked up
   * @param until epoch milliseconds: nobody waits for it any longer, and it is not stored after that
   * @throws DeadlineError where it waited too long, or too many wait
   */
  keep(token: string, click: Click | null, until: number): Promise<KeptClick | null>;
}

const keepers = new WeakMap<Services, ClickKeeper>();

/** Looks a link up and stores the hit, among all hits of this process; see `ClickKeeper`. */
export function keepClick(
  services: Services,
  ...hit: Parameters<ClickKeeper['keep']>
): Promise<KeptClick | null> {
  const keeper = keepers.get(services) ?? createClickKeeper(services.sql);
  keepers.set(services, keeper);
  return keeper.keep(...hit);
}

/**
 * Hits that come while a statement is under way wait for the next one, which takes all of them: a flood is as few
 * statements as the database can answer one after the other. The hits of one link are never in two statements at once.
 */
export function createClickKeeper(sql: Sql): ClickKeeper {
  const waiting = createWaitingHits();
  let statements = 0;

  async function store(batch: HitsByLink): Promise<void> {
    try {
      const links = await storeClicks(sql, [...batch].map(asLinkHits));
      for (const [token, hits] of batch) {
        const link = links.get(token);
        if (link === 'locked') putOff(token, hits);
        else {
          waiting.release(token);
          for (const { click, resolve } of hits) resolve(link === undefined ? null : link(click));
        }
      }
    } catch (error) {
      for (const [token, hits] of batch) {
        waiting.release(token);
        for (const { reject } of hits) reject(error);
      }
    }
  }

  function putOff(token: string, hits: WaitingHit[]): void {
    waiting.putBack(token, hits);
    setTimeout(() => {
      waiting.release(token);
      pump();
    }, AGAIN_MS);
  }

  function pump(): void {
    while (statements < STATEMENTS_AT_ONCE) {
      const batch = waiting.take();
      if (batch.size === 0) return;
      statements += 1;
      void store(batch).finally(() => {
        statements -= 1;
        pump();
      });
    }
  }

  return {
    keep(token, click, until) {
      return new Promise((resolve, reject) => {
        waiting.add(token, { click, until, resolve, reject });
        pump();
      });
    },
  };
}

function asLinkHits([token, hits]: [string, WaitingHit[]]): LinkHits {
  return { token, clicks: hits.flatMap(({ click }) => click ?? []) };
}
