import { createFairSemaphore } from '../../concurrency/semaphore.ts';
import { shortenedAddress } from '../../domain/addresses.ts';
import type { CallbackCall } from '../../operations/incoming/provenCallback.ts';
import type { PageAnswer, Visit } from '../http/page.ts';
import { callOf, textResponse, withPlainErrors } from './pages.ts';

// The e-mail's fifty recipients and headers are a few kB, and so is a payment.
const BODY_BYTES = 256 * 1024;
// Anyone may call: limits the unauthenticated bodies in memory, in total and per network.
const LIMITS = { places: 64, each: 16 };
const SLOT_TIMEOUT_MS = 5_000;
// A body keeps its slot for this long at most: otherwise four networks with stalled bodies could occupy all slots.
// 256 kB take two seconds at 1.2 Mbit/s, and providers call from data centres.
const BODY_WITHIN_MS = 5_000;

const slots = createFairSemaphore(LIMITS.places, LIMITS.each);

class NoSlotError extends Error {}

/** Runs `prove`, which reads the body of a callback and verifies its signature, with one of the slots for that. */
export async function withSlot<Proof>(
  visit: Visit,
  prove: (call: CallbackCall) => Promise<Proof>,
): Promise<Proof> {
  const { address, receivedAt } = visit;
  let release = (): void => undefined;
  const call = callOf(visit, {
    maxBytes: BODY_BYTES,
    withinMs: BODY_WITHIN_MS,
    beforeRead: async () => {
      const until = receivedAt + SLOT_TIMEOUT_MS;
      release = await slots.enter(shortenedAddress(address) ?? '', { until, error: () => new NoSlotError() });
    },
  });
  try {
    return await prove(call);
  } finally {
    release();
  }
}

/** The answer to a callback; 503 where no slot got free. */
export async function answerOrBusy(answering: Promise<PageAnswer>): Promise<PageAnswer> {
  try {
    return await withPlainErrors(answering);
  } catch (error) {
    if (!(error instanceof NoSlotError)) throw error;
    return textResponse(503, 'unavailable', { 'Retry-After': '5' });
  }
}
