import { storeEmailEvents } from '../../db/emails/events.ts';
import { signerOf } from '../../operations/incoming/emailSigner.ts';
import type { Page, PageAnswer, Visit } from '../http/page.ts';
import { textResponse } from './pages.ts';
import { answerOrBusy, withSlot } from './unauthenticated.ts';

/**
 * Callbacks of e-mail providers (v1.2.0, POST /v1/email): one URL for all, whose signature identifies the route, and one URL per route.
 * Responds 200 only once the events are stored: the provider retries after any other status.
 */
export const emailCallbacks: readonly Page[] = ['/v1/email/callback', '/v1/email/callback/:route'].map(
  (path): Page => ({
    methods: ['POST'],
    path,
    visitors: false,
    handle: (visit) => answerOrBusy(answerTo(visit)),
    failed: () => textResponse(503, 'unavailable'),
  }),
);

async function answerTo(visit: Visit): Promise<PageAnswer> {
  const { services, params, requestId } = visit;
  const { route, call } = await withSlot(visit, async (call) => ({
    call,
    route: await signerOf(services, params['route'] ?? null, call),
  }));
  if (route === null) return textResponse(401, 'not signed by a provider');
  const events = await route.callback.read(call);
  if (events === null) {
    // Staff must look into this: our parser does not understand the payload, so its content is not stored.
    services.log.warn({ route: route.name, requestId }, 'a callback about e-mail was not understood');
    return textResponse(400, 'not understood');
  }
  // Workers poll for stored events and apply them.
  await storeEmailEvents(services.sql, route.name, events);
  return textResponse(200, 'OK');
}
