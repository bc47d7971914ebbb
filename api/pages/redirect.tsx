import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createResultBatcher } from '../../concurrency/gather.ts';
import { type Click, countClicks, readTarget } from '../../db/links/links.ts';
import { DeadlineError } from '../../operations/outages.ts';
import type { Sql } from '../../db/connection.ts';
import type { Services } from '../services.ts';
import { LINK_TOKEN_LENGTH, linkToken } from '../../domain/links.ts';
import { shortenedAddress } from '../../domain/addresses.ts';
import { clickCounter } from '../../telemetry/messageMetrics.ts';
import { RESPONSE_TIMEOUT_MS } from '../http/invoke.ts';
import type { Page, PageAnswer, Visit } from '../http/page.ts';
import { isAutomatic } from './automatic.ts';
import { failurePage, shortPage } from './short.tsx';

const CLICKS_PER_STATEMENT = 500;
// Each of them is an open request.
const PENDING_CLICKS_MAX = 10_000;
// Milliseconds between tries while another process or an accepted message has the link locked.
const LOCK_RETRY_MS = 15;

// Counts a click and resolves to its target; null for an unknown link. Retries a locked link until `until`, epoch milliseconds, then
// throws a DeadlineError.
type CountClick = (click: Click, until: number) => Promise<string | null>;

const counters = new WeakMap<Services, CountClick>();

/** Batches clicks: those that arrive during a statement share the next one, so that a flood occupies one connection per process. */
function createCounter(sql: Sql): CountClick {
  const count = createResultBatcher((clicks: Click[]) => countClicks(sql, clicks), {
    most: CLICKS_PER_STATEMENT,
  });
  let waiting = 0;
  return async (click, until) => {
    if (waiting >= PENDING_CLICKS_MAX) throw new DeadlineError('too many clicks wait');
    waiting += 1;
    try {
      for (;;) {
        const counted = await count(click);
        if (counted !== 'locked') return counted?.url ?? null;
        if (Date.now() > until) throw new DeadlineError('the link is locked');
        await delay(LOCK_RETRY_MS);
      }
    } finally {
      waiting -= 1;
    }
  };
}

function counterOf(services: Services): CountClick {
  const counter = counters.get(services) ?? createCounter(services.sql);
  counters.set(services, counter);
  return counter;
}

const USER_AGENT_MAX = 500;
const IP_HASH_BYTES = 8;
// The link is personal: it must not be cached, nor sent to the target as referrer.
const ANSWER_HEADERS = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex, nofollow',
};

/** GET /l/{token} (v2.3.0, Tracked links): counts the click, then redirects (302). Robots are counted and marked; HEAD does not count. */
export const redirect: Page = {
  methods: ['GET'],
  path: '/l/:token',
  visitors: true,
  async handle(visit) {
    const { services, params } = visit;
    const token = linkToken(params['token'], LINK_TOKEN_LENGTH);
    if (token === null) return unknownLink();
    const target =
      visit.method === 'HEAD' ? await readTarget(services.sql, token) : await counted(visit, token);
    if (target === null) return unknownLink();
    return { status: 302, headers: { ...ANSWER_HEADERS, Location: inAscii(target) }, body: '' };
  },
  failed: (status, { requestId }) => failurePage(status, 'Nie udało się otworzyć linku', requestId),
};

async function counted(visit: Visit, token: string): Promise<string | null> {
  const { services, address, receivedAt } = visit;
  const robot = isAutomatic(visit);
  const ipHash = addressHash(services.secretsKey, address);
  const click: Click = { token, userAgent: userAgentOf(visit), ipHash, robot };
  const target = await counterOf(services)(click, receivedAt + RESPONSE_TIMEOUT_MS);
  if (target !== null) clickCounter.inc({ robot: String(robot) });
  return target;
}

/** The target, percent-encoded only if a header cannot carry it. */
function inAscii(url: string): string {
  return /^[\x21-\x7e]+$/.test(url) ? url : new URL(url).href;
}

/** The user agent as stored and shown: at most 500 characters, no control characters. */
function userAgentOf({ headers }: Visit): string | null {
  // Node decodes headers as Latin-1; clients that send other characters mean UTF-8.
  const text = Buffer.from(headers['user-agent'] ?? '', 'latin1').toString('utf8');
  const shown = [...text.replace(/\p{C}/gu, ' ').trim()].slice(0, USER_AGENT_MAX).join('');
  return shown === '' ? null : shown;
}

/** Tells visitors' networks apart without storing addresses; keyed, so that only this installation can compute it. */
function addressHash(secretsKey: Buffer, address: string): Buffer | null {
  const network = shortenedAddress(address);
  if (network === null) return null;
  return createHmac('sha256', secretsKey).update(`click:${network}`).digest().subarray(0, IP_HASH_BYTES);
}

function unknownLink(): PageAnswer {
  return shortPage(
    404,
    'Link jest nieaktywny',
    <p>Ten link nie działa. Sprawdź, czy adres jest taki sam jak w otrzymanej wiadomości.</p>,
  );
}
