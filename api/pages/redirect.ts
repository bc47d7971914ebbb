import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { gatherAnswers } from '../../concurrency/gather.ts';
import { type Click, countClicks, isToken, readTarget } from '../../db/links/links.ts';
import { DeadlineError } from '../../operations/outages.ts';
import type { Sql } from '../../db/connection.ts';
import type { Services } from '../services.ts';
import { LINK_TOKEN_LENGTH } from '../../domain/links.ts';
import { shortenedAddress } from '../../domain/addresses.ts';
import { clickCounter } from '../../telemetry/messageMetrics.ts';
import type { Page, PageAnswer, Visit } from '../http/page.ts';
import { isAutomatic } from './automatic.ts';
import { failurePage, html, shortPage } from './html.ts';

const CLICKS_PER_STATEMENT = 500;
// Each of them is a visitor's open request.
const WAITING_MAX = 10_000;
// Somebody else has the link locked for a moment: another process, a message with the same link.
const AGAIN_MS = 15;

/**
 * Counts a click before it resolves: where its link leads, or null when there is no such link.
 * @param until epoch milliseconds: a click on a locked link is not tried again after that
 * @throws DeadlineError
 */
type CountClick = (click: Click, until: number) => Promise<string | null>;

const counters = new WeakMap<Services, CountClick>();

/** Clicks that come while a statement is under way go together in the next one: a flood holds one connection of a process. */
function createCounter(sql: Sql): CountClick {
  const count = gatherAnswers((clicks: Click[]) => countClicks(sql, clicks), { most: CLICKS_PER_STATEMENT });
  let waiting = 0;
  return async (click, until) => {
    if (waiting >= WAITING_MAX) throw new DeadlineError('too many clicks wait');
    waiting += 1;
    try {
      for (;;) {
        const counted = await count(click);
        if (counted !== 'locked') return counted?.url ?? null;
        if (Date.now() > until) throw new DeadlineError('the link is locked');
        await delay(AGAIN_MS);
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
// The address of the link is the recipient's own: nobody is to keep it, and the target is not to learn it.
const ANSWER_HEADERS = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex, nofollow',
};

const ANSWER_MS = 10_000;

/**
 * GET /l/{token} (v2.3.0, Tracked links): 302 to the target. The click is counted before the answer. Robots' count too, and are
 * marked. HEAD opens nothing, and is no click.
 */
export const redirect: Page = {
  methods: ['GET'],
  path: '/l/:token',
  visitors: true,
  async handle(visit) {
    const { services, params } = visit;
    const token = params['token'] ?? '';
    if (!isToken(token, LINK_TOKEN_LENGTH)) return unknownLink();
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
  const target = await counterOf(services)(click, receivedAt + ANSWER_MS);
  if (target !== null) clickCounter.inc({ robot: String(robot) });
  return target;
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
