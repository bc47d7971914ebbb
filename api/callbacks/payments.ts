import { lookAtPayment } from '../../operations/money/payments.ts';
import { type EventReader, ForgedEventError } from '../../payments/processor.ts';
import { simulatedEventKey, simulatedEvents } from '../../payments/simulatedEvents.ts';
import { stripeEvents } from '../../payments/stripe/events.ts';
import type { Page, PageAnswer, Visit } from '../http/page.ts';
import type { Services } from '../services.ts';
import { textResponse } from './pages.ts';
import { answerOrBusy, withSlot } from './unauthenticated.ts';

/**
 * Events of payment processors. One says only that something happened: the payment's workflow reads from the processor what it was. The
 * processor sends an event again unless it is answered 200.
 */
export const paymentEvents: Page = {
  methods: ['POST'],
  path: '/v1/payments/:processor',
  visitors: false,
  handle: (visit) => answerOrBusy(answerTo(visit)),
  failed: () => textResponse(503, 'unavailable'),
};

async function answerTo(visit: Visit): Promise<PageAnswer> {
  const { services, params, headers } = visit;
  const { processor = '' } = params;
  const read = readerOf(services, processor);
  if (read === null) return textResponse(404, 'not found');
  try {
    const event = await withSlot(visit, async (call) => read(await call.body(), headers));
    if (event !== null && !(await lookAtPayment(services, processor, event)))
      services.log.info({ processor }, 'an event is about no payment of ours');
    return textResponse(200, 'OK');
  } catch (error) {
    if (error instanceof ForgedEventError) return textResponse(400, 'not signed by the processor');
    throw error;
  }
}

function readerOf({ secretsKey, settings }: Services, processor: string): EventReader | null {
  if (processor === 'simulated') return simulatedEvents(simulatedEventKey(secretsKey));
  const { STRIPE_WEBHOOK_SECRETS: secrets } = settings;
  return processor === 'stripe' && secrets !== undefined ? stripeEvents(secrets) : null;
}
