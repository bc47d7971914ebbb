import { createHmac } from 'node:crypto';
import { type Click, isToken, type KeptClick, type LinkHits, storeClicks } from '../../db/links/links.ts';
import { DeadlineError } from '../../operations/outages.ts';
import type { Sql } from '../../db/connection.ts';
import type { Services } from '../services.ts';
import { newId } from '../../db/ids.ts';
import { LINK_TOKEN_LENGTH } from '../../domain/links.ts';
import { shortenedAddress } from '../../domain/addresses.ts';
import { clickCounter } from '../../telemetry/messageMetrics.ts';
import { startClick } from '../../operations/incoming/starts.ts';
import type { Page, PageAnswer, Visit } from '../http/page.ts';
import { isAutomatic } from './automatic.ts';
import { failurePage, html, shortPage } from './html.ts';

const LINKS_PER_STATEMENT = 50;
const HITS_PER_STATEMENT = 500;
// Each of them is a visitor's open request.
const WAITING_MAX = 10_000;

/** A hit whose visitor waits. */
interface WaitingHit {
  click: Click | null;
  /** Epoch milliseconds: nobody waits for it after that. */
  until: number;
  resolve: (kept: KeptClick | null) => void;
  reject: (error: unknown) => void;
}

/** Hits by their link's token. */
type HitsByLink = Map<string, WaitingHit[]>;

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

// Of the database's connections hits never hold more than these, however many come at once.
const STATEMENTS_AT_ONCE = 2;
// Somebody else has the link locked for a moment: a worker that counts, another process.
const AGAIN_MS = 15;

/** Stores hits on tracked links, many in one statement while many come. */
interface ClickKeeper {
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
function keepClick(services: Services, ...hit: Parameters<ClickKeeper['keep']>): Promise<KeptClick | null> {
  const keeper = keepers.get(services) ?? createClickKeeper(services.sql);
  keepers.set(services, keeper);
  return keeper.keep(...hit);
}

/**
 * Hits that come while a statement is under way wait for the next one, which takes all of them: a flood is as few
 * statements as the database can answer one after the other. The hits of one link are never in two statements at once.
 */
function createClickKeeper(sql: Sql): ClickKeeper {
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

const USER_AGENT_MAX = 500;
const IP_HASH_BYTES = 8;
// The address of the link is the recipient's own: nobody is to keep it, and the target is not to learn it.
const ANSWER_HEADERS = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex, nofollow',
};

const ANSWER_MS = 10_000;

/**
 * GET /l/{token} (v2.3.0, Tracked links): 302 to the target. The click is stored before the answer and counted after it,
 * by the workflow `click`; beyond the bounds of a minute it is counted at once, and nothing else is kept of it. Robots'
 * count too, and are marked. HEAD opens nothing, and is no click.
 */
export const redirect: Page = {
  methods: ['GET'],
  path: '/l/:token',
  visitors: true,
  async handle(visit) {
    const { services, params } = visit;
    const token = params['token'] ?? '';
    if (!isToken(token, LINK_TOKEN_LENGTH)) return unknownLink();
    const click = visit.method === 'HEAD' ? null : clickOf(visit);
    const kept = await keepClick(services, token, click, visit.receivedAt + ANSWER_MS);
    if (kept === null) return unknownLink();
    if (click !== null) clickCounter.inc({ robot: String(click.robot) });
    if (click !== null && kept.logged) startClick(services, { id: click.id, accountId: kept.accountId });
    return {
      status: 302,
      headers: { ...ANSWER_HEADERS, Location: inAscii(kept.url) },
      body: '',
    };
  },
  failed: (status, { requestId }) => failurePage(status, 'Nie udało się otworzyć linku', requestId),
};

function clickOf(visit: Visit): Click {
  return {
    id: newId('clk'),
    userAgent: userAgentOf(visit),
    ipHash: addressHash(visit.services.secretsKey, visit.address),
    robot: isAutomatic(visit),
  };
}

/** The target as it was given, where a header can carry it. */
function inAscii(url: string): string {
  return /^[\x21-\x7e]+$/.test(url) ? url : new URL(url).href;
}

/** What the visitor says of itself, as it can be stored and shown: at most 500 characters, none of control. */
function userAgentOf({ headers }: Visit): string | null {
  // Node reads headers byte by byte; those who write others than ASCII mean UTF-8.
  const text = Buffer.from(headers['user-agent'] ?? '', 'latin1').toString('utf8');
  const shown = [...text.replace(/\p{C}/gu, ' ').trim()].slice(0, USER_AGENT_MAX).join('');
  return shown === '' ? null : shown;
}

/** Tells visits from one network apart from others without keeping their address: only this installation can make it. */
function addressHash(secretsKey: Buffer, address: string): Buffer | null {
  const network = shortenedAddress(address);
  if (network === null) return null;
  return createHmac('sha256', secretsKey).update(`click:${network}`).digest().subarray(0, IP_HASH_BYTES);
}

function unknownLink(): PageAnswer {
  return shortPage(
    404,
    'Link jest nieaktywny',
    html`<p>Ten link nie działa. Sprawdź, czy adres jest taki sam jak w otrzymanej wiadomości.</p>`,
  );
}
