import { callbackPaths, provenCallback } from '../../operations/incoming/provenCallback.ts';
import { storeContent } from '../../operations/incoming/storeContent.ts';
import type { Page, PageAnswer, Visit } from '../http/page.ts';
import { answered, callOf, plain } from './answers.ts';

// A hundred reports with their dozen fields of 30 characters are 36 kB; the longest reply is far shorter.
const BODY_BYTES = 64 * 1024;

/**
 * The addresses that providers call with delivery reports, replies and answers to look-ups. `OK` means that we have what the call
 * brought, so it is answered only once that is stored; after anything else the provider calls again.
 */
export const callbacks: readonly Page[] = [...callbackPaths()].map(callbackPage);

function callbackPage([path, pattern]: [string, string]): Page {
  return {
    methods: ['GET', 'POST'],
    path: pattern,
    visitors: false,
    handle: (visit) => answered(answerTo(path, visit)),
    failed: () => plain(503, 'unavailable'),
  };
}

async function answerTo(path: string, visit: Visit): Promise<PageAnswer> {
  const { services, params, address, method } = visit;
  const { route = '', secret = null } = params;
  const call = callOf(visit, { maxBytes: BODY_BYTES });
  const callback = await provenCallback(services, { route, path, secret, address }, call);
  // HEAD stands for nothing here: it must not store anything, and has no body to say OK in.
  if (callback === null || method === 'HEAD') return plain(404, 'not found');
  const content = await callback.read(call);
  if (content !== null) {
    await storeContent(services, route, content);
    return plain(200, 'OK');
  }
  // Somebody has to look: the provider speaks otherwise than we understand, and what it brought is not stored.
  const { requestId } = visit;
  services.log.warn({ route, kind: callback.name, requestId }, 'a callback was not understood');
  return plain(400, 'not understood');
}
