import { type Click, type KeptClick, type LinkHits, storeClicks } from '../../db/links/clicks.ts';
import type { Sql } from '../../db/connection.ts';
import { currentPatience, type Patience, withPatience } from '../../db/patience.ts';
import { DeadlineError } from '../../operations/outages.ts';
import type { Services } from '../services.ts';

// Of the database's connections hits never hold more than these, however many come at once.
const STATEMENTS_AT_ONCE = 2;
const LINKS_PER_STATEMENT = 50;
const HITS_PER_STATEMENT = 500;
// Somebody else has the link locked for a moment: a worker that counts, another process.
const AGAIN_MS = 15;
// Each of them is a visitor's open request.
const WAITING_MAX = 10_000;

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

interface Waiting {
  click: Click | null;
  until: number;
  resolve: (kept: KeptClick | null) => void;
  reject: (error: unknown) => void;
}

/**
 * Hits that come while a statement is under way wait for the next one, which takes all of them: a flood is as few
 * statements as the database can answer one after the other. The hits of one link are never in two statements at once.
 */
export function createClickKeeper(sql: Sql): ClickKeeper {
  const waiting = new Map<string, Waiting[]>();
  /** Links in a statement, or left alone for a moment. */
  const underWay = new Set<string>();
  let count = 0;
  let statements = 0;

  function enqueue(token: string, hits: Waiting[]): void {
    waiting.set(token, [...hits, ...(waiting.get(token) ?? [])]);
    count += hits.length;
  }

  function take(): Map<string, Waiting[]> {
    const taken = new Map<string, Waiting[]>();
    let room = HITS_PER_STATEMENT;
    for (const [token, hits] of waiting) {
      if (taken.size === LINKS_PER_STATEMENT || room === 0) break;
      if (underWay.has(token)) continue;
      const some = hits.splice(0, room);
      // What is left of it has its turn behind the others.
      waiting.delete(token);
      if (hits.length > 0) waiting.set(token, hits);
      count -= some.length;
      const timely = some.filter(({ until, reject }) => until > Date.now() || reject(late()));
      if (timely.length === 0) continue;
      room -= timely.length;
      taken.set(token, timely);
      underWay.add(token);
    }
    return taken;
  }

  async function store(batch: Map<string, Waiting[]>): Promise<void> {
    try {
      const links = await withPatience(patienceOf(batch), () => storeClicks(sql, [...batch].map(asLinkHits)));
      for (const [token, hits] of batch) {
        const link = links.get(token);
        if (link === 'locked') putOff(token, hits);
        else {
          underWay.delete(token);
          for (const { click, resolve } of hits) resolve(link === undefined ? null : link(click));
        }
      }
    } catch (error) {
      for (const [token, hits] of batch) {
        underWay.delete(token);
        for (const { reject } of hits) reject(error);
      }
    }
  }

  function putOff(token: string, hits: Waiting[]): void {
    enqueue(token, hits);
    setTimeout(() => {
      underWay.delete(token);
      pump();
    }, AGAIN_MS);
  }

  function pump(): void {
    while (statements < STATEMENTS_AT_ONCE) {
      const batch = take();
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
        if (count >= WAITING_MAX) return reject(late());
        const hits = waiting.get(token) ?? [];
        hits.push({ click, until, resolve, reject });
        waiting.set(token, hits);
        count += 1;
        pump();
      });
    },
  };
}

/**
 * As long as somebody waits whose hit is among them. Not that of whoever's request happened to set the statements going: in a flood that
 * one is long over.
 */
function patienceOf(batch: ReadonlyMap<string, readonly Waiting[]>): Patience {
  const untils = [...batch.values()].flatMap((hits) => hits.map(({ until }) => until));
  return { owner: currentPatience()?.owner ?? null, until: Math.max(...untils), signal: null };
}

const late = () => new DeadlineError('no turn in time');

function asLinkHits([token, hits]: [string, Waiting[]]): LinkHits {
  return { token, clicks: hits.flatMap(({ click }) => click ?? []) };
}
