import { createFairSemaphore } from '../../concurrency/semaphore.ts';
import { storeEmailEvents } from '../../db/emails/events.ts';
import { shortenedAddress } from '../../domain/addresses.ts';
import { signerOf } from '../../operations/incoming/emailSigner.ts';
import type { Page, PageAnswer, Visit } from '../http/page.ts';
import { withPlainErrors, callOf, textResponse } from './pages.ts';

// A callback reports on one e-mail; its fifty recipients and headers are a few kB.
const BODY_BYTES = 256 * 1024;
// Anyone may call: limits the unauthenticated bodies in memory, in total and per network.
const UNAUTHENTICATED_LIMITS = { places: 64, each: 16 };
const SLOT_TIMEOUT_MS = 5_000;
// A body keeps its slot for this long at most: otherwise four networks with stalled bodies could occupy all slots.
// 256 kB take two seconds at 1.2 Mbit/s, and providers call from data centres.
const BODY_WITHIN_MS = 5_000;

const unauthenticatedSlots = createFairSemaphore(UNAUTHENTICATED_LIMITS.places, UNAUTHENTICATED_LIMITS.each);

class NoSlotError extends Error {}

/**
 * Callbacks of e-mail providers (v1.2.0, POST /v1/email): one URL for all, whose signature identifies the route, and one URL per route.
 * Responds 200 only once the events are stored: the provider retries after any other status.
 */
export const emailCallbacks: readonly Page[] = ['/v1/email/callback', '/v1/email/callback/:route'].map(
  (path): Page => ({
    methods: ['POST'],
    path,
    visitors: false,
    handle: (visit) => withPlainErrors(answerTo(visit)),
    failed: () => textResponse(503, 'unavailable'),
  }),
);

async function answerTo(visit: Visit): Promise<PageAnswer> {
  try {
    return await processCallback(visit);
  } catch (error) {
    if (!(error instanceof NoSlotError)) throw error;
    return textResponse(503, 'unavailable', { 'Retry-After': '5' });
  }
}

async function processCallback(visit: Visit): Promise<PageAnswer> {
  const { services, requestId } = visit;
  const { route, call } = await authenticate(visit);
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

/** Authenticates a callback; its body occupies a slot until the signature is verified. */
async function authenticate(visit: Visit) {
  const { services, params, address, receivedAt } = visit;
  let release = (): void => undefined;
  const call = callOf(visit, {
    maxBytes: BODY_BYTES,
    withinMs: BODY_WITHIN_MS,
    beforeRead: async () => {
      const until = receivedAt + SLOT_TIMEOUT_MS;
      release = await unauthenticatedSlots.enter(shortenedAddress(address) ?? '', {
        until,
        error: () => new NoSlotError(),
      });
    },
  });
  try {
    return { call, route: await signerOf(services, params['route'] ?? null, call) };
  } finally {
    release();
  }
}
