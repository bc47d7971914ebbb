import { createHmac } from 'node:crypto';
import { storeClick } from '../../db/links/clicks.ts';
import { newId } from '../../db/ids.ts';
import { isToken } from '../../db/links/tokens.ts';
import { LINK_TOKEN_LENGTH } from '../../domain/links.ts';
import { shortenedAddress } from '../../domain/shortenedAddress.ts';
import { countClick } from '../../telemetry/reactionMetrics.ts';
import type { Page, PageAnswer, Visit } from '../http/page.ts';
import { isAutomatic } from './automatic.ts';
import { startClick } from './clickStarts.ts';
import { failurePage, html, shortPage } from './html.ts';

const USER_AGENT_MAX = 500;
const IP_HASH_BYTES = 8;
// The address of the link is the recipient's own: nobody is to keep it, and the target is not to learn it.
const ANSWER_HEADERS = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex, nofollow',
};

/**
 * GET /l/{token} (v2.3.0, Tracked links): 302 to the target. The click is stored before the answer and counted after it,
 * by the workflow `click`; every hit counts, HEAD and robots too, and those are marked.
 */
export const redirect: Page = {
  methods: ['GET'],
  path: '/l/:token',
  visitors: true,
  async handle(visit) {
    const { services, params } = visit;
    const token = params['token'] ?? '';
    if (!isToken(token, LINK_TOKEN_LENGTH)) return unknownLink();
    const id = newId('clk');
    const robot = isAutomatic(visit);
    const target = await storeClick(services.sql, {
      id,
      token,
      userAgent: userAgentOf(visit),
      ipHash: addressHash(services.secretsKey, visit.address),
      robot,
    });
    if (target === null) return unknownLink();
    countClick(robot);
    startClick(services, { id, accountId: target.accountId });
    return {
      status: 302,
      headers: { ...ANSWER_HEADERS, Location: inAscii(target.url) },
      body: '',
    };
  },
  failed: (status, { requestId }) => failurePage(status, 'Nie udało się otworzyć linku', requestId),
};

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
