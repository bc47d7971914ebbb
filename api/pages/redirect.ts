import { createHmac } from 'node:crypto';
import { newId } from '../../db/ids.ts';
import type { Click } from '../../db/links/clicks.ts';
import { isToken } from '../../db/links/tokens.ts';
import { LINK_TOKEN_LENGTH } from '../../domain/links.ts';
import { shortenedAddress } from '../../domain/shortenedAddress.ts';
import { clickCounter } from '../../telemetry/messageMetrics.ts';
import { startClick } from '../../operations/incoming/startClick.ts';
import type { Page, PageAnswer, Visit } from '../http/page.ts';
import { isAutomatic } from './automatic.ts';
import { keepClick } from './clickKeeper.ts';
import { failurePage, html, shortPage } from './html.ts';

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
