import { CALLBACK_KINDS, type CallbackKind } from '../../providers/smsapi/settings.ts';
import type { Page, PageAnswer, Visit } from '../http/page.ts';
import { readFields } from './fields.ts';
import { maySpeakFor } from './routes.ts';
import { takeOf } from './take.ts';
import { HttpRefused, errorAnswer } from '../http/refusals.ts';

/**
 * The addresses that SMSAPI.pl calls with delivery reports, replies and answers to look-ups, as GET or as a POSTed form
 * (https://www.smsapi.pl/docs/#9-raporty-callback). The provider does not sign its calls: a secret in the path tells them from
 * anybody's. `OK`, and nothing else, tells it that we have what it brought, so it is said only once that is stored;
 * whatever else it gets, it comes again.
 */
export const callbacks: readonly Page[] = CALLBACK_KINDS.map(callbackPage);

function callbackPage(kind: CallbackKind): Page {
  return {
    methods: ['GET', 'POST'],
    path: `/callbacks/:route/:secret/${kind}`,
    visitors: false,
    handle: (visit) => answerTo(kind, visit),
    failed: () => plain(503, 'unavailable'),
  };
}

async function answerTo(kind: CallbackKind, visit: Visit): Promise<PageAnswer> {
  const { services, params, address, method } = visit;
  const { route = '', secret = '' } = params;
  // HEAD stands for nothing here: it must not store anything, and has no body to say OK in.
  const allowed = await maySpeakFor(services, { route, secret, address });
  if (!allowed || method === 'HEAD') return plain(404, 'not found');
  try {
    const fields = await readFields(visit);
    const taken = fields !== null && (await takeOf[kind](services, route, fields));
    if (taken) return plain(200, 'OK');
  } catch (error) {
    if (!(error instanceof HttpRefused)) throw error;
    const { status, code, headers } = errorAnswer(error);
    return { ...plain(status, code), headers: { ...PLAIN, ...headers } };
  }
  // Somebody has to look: the provider speaks otherwise than we understand, and what it brought is not stored.
  services.log.warn({ route, kind, requestId: visit.requestId }, 'a callback was not understood');
  return plain(400, 'not understood');
}

const PLAIN = { 'Content-Type': 'text/plain; charset=utf-8' };

function plain(status: number, body: string): PageAnswer {
  return { status, headers: PLAIN, body };
}
