import { createFairSemaphore } from '../../concurrency/semaphore.ts';
import { storeEmailEvents } from '../../db/emails/events.ts';
import { shortenedAddress } from '../../domain/addresses.ts';
import { signerOf } from '../../operations/incoming/emailSigner.ts';
import type { Page, PageAnswer, Visit } from '../http/page.ts';
import { answered, callOf, plain } from './pages.ts';

// Providers tell of one e-mail in a call; its fifty addresses and headers are some kilobytes.
const BODY_BYTES = 256 * 1024;
// Anybody may call: so many bodies are held that nobody has been found to have signed yet, and so many from one network.
const UNPROVEN = { places: 64, each: 16 };
const PLACE_WITHIN_MS = 5_000;
// For so long a body has its place at most, however slowly it comes: four networks whose bodies never end would have all of them.
// 256 kB over 1.2 Mbit/s take two seconds, and providers call from data centres.
const BODY_WITHIN_MS = 5_000;

const unproven = createFairSemaphore(UNPROVEN.places, UNPROVEN.each);

/** There was no place for the body in time. */
class Crowded extends Error {}

/**
 * /v1/email/callback (v1.2.0, POST /v1/email): what e-mail providers report. The signature shows which route's provider it is, so
 * that one address serves them all; below it each route has one of its own, by its name. Answered 200 once the events are stored:
 * after anything else the provider calls again.
 */
export const emailCallbacks: readonly Page[] = ['/v1/email/callback', '/v1/email/callback/:route'].map(
  (path): Page => ({
    methods: ['POST'],
    path,
    visitors: false,
    handle: (visit) => answered(answerTo(visit)),
    failed: () => plain(503, 'unavailable'),
  }),
);

async function answerTo(visit: Visit): Promise<PageAnswer> {
  try {
    return await taken(visit);
  } catch (error) {
    if (!(error instanceof Crowded)) throw error;
    return plain(503, 'unavailable', { 'Retry-After': '5' });
  }
}

async function taken(visit: Visit): Promise<PageAnswer> {
  const { services, requestId } = visit;
  const { route, call } = await proven(visit);
  if (route === null) return plain(401, 'not signed by a provider');
  const events = await route.callback.read(call);
  if (events === null) {
    // Somebody has to look: the provider speaks otherwise than we understand, and what it brought is not stored.
    services.log.warn({ route: route.name, requestId }, 'a callback about e-mail was not understood');
    return plain(400, 'not understood');
  }
  // Applied by the workers, who look for stored events all the time.
  await storeEmailEvents(services.sql, route.name, events);
  return plain(200, 'OK');
}

/** A call and whose provider signed it. Its body has a place among those of everybody until that is known. */
async function proven(visit: Visit) {
  const { services, params, address, receivedAt } = visit;
  let leave = (): void => undefined;
  const call = callOf(visit, {
    maxBytes: BODY_BYTES,
    withinMs: BODY_WITHIN_MS,
    mayRead: async () => {
      const until = receivedAt + PLACE_WITHIN_MS;
      leave = await unproven.enter(shortenedAddress(address) ?? '', { until, error: () => new Crowded() });
    },
  });
  try {
    return { call, route: await signerOf(services, params['route'] ?? null, call) };
  } finally {
    leave();
  }
}
