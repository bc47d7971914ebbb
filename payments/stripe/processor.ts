import Stripe from 'stripe';
import type { Reversal, SavedCard, WantedCheckout, WantedPayment } from '../../domain/payments.ts';
import { type PaymentProcessor, PaymentRefusedError } from '../processor.ts';
import { ofDispute, ofIntent, ofRefund, ofSession, whole } from './state.ts';

const TIMEOUT_MS = 10_000;
const REVERSALS_MAX = 1000;
const PAGE = 100;
// Stripe allows a session 24 hours, by its own clock. Not counted from now: what is asked for again must be the same in everything.
const EARLIER_S = 300;

export interface StripeSettings {
  /** Secret or restricted: `sk_test_…`, `rk_live_…`. */
  key: string;
  baseUrl?: string;
}

/** Stripe's hosted Checkout, in the API version of the SDK. Whoever calls it repeats what failed: the SDK does not. */
export function stripeProcessor({ key, baseUrl }: StripeSettings): PaymentProcessor {
  const quiet = { timeout: TIMEOUT_MS, maxNetworkRetries: 0, telemetry: false };
  const stripe = new Stripe(key, { ...quiet, ...(baseUrl !== undefined && addressOf(baseUrl)) });
  return {
    name: 'stripe',
    live: /^[rs]k_live_/.test(key),

    async startCheckout(wanted) {
      const once = { idempotencyKey: wanted.id };
      const { id, url } = await answered(stripe.checkout.sessions.create(checkoutOf(wanted), once));
      if (url === null) throw new StripeFailedError('The session has no page.');
      return { session: id, url };
    },

    async chargeCard(wanted, card) {
      const once = { idempotencyKey: wanted.id };
      const { id, status } = await answered(stripe.paymentIntents.create(chargeOf(wanted, card), once));
      if (status !== 'requires_action') return { reference: id };
      await answered(stripe.paymentIntents.cancel(id));
      throw new PaymentRefusedError('The bank asks for the payer.');
    },

    async read({ session, reference }) {
      if (session !== null) {
        const expand = ['payment_intent.latest_charge.refunds'];
        const found = await answered(stripe.checkout.sessions.retrieve(session, { expand }));
        return { ...ofSession(found), reversals: await reversals(whole(found.payment_intent)) };
      }
      if (reference === null) throw new PaymentRefusedError('Neither a session nor a payment.');
      const expand = ['latest_charge.refunds'];
      const intent = await answered(stripe.paymentIntents.retrieve(reference, { expand }));
      return { ...ofIntent(intent), reversals: await reversals(intent) };
    },

    async refund(reference, { id, grossGrosze: amount }) {
      const wanted = { payment_intent: reference, amount };
      await answered(stripe.refunds.create(wanted, { idempotencyKey: id }));
    },
  };

  // A charge comes with its ten latest refunds.
  async function reversals(intent: Stripe.PaymentIntent | null): Promise<Reversal[]> {
    if (intent?.status !== 'succeeded') return [];
    const which = { payment_intent: intent.id, limit: PAGE };
    const latest = whole(intent.latest_charge)?.refunds;
    const refunds = latest && !latest.has_more ? latest.data : await all(stripe.refunds.list(which));
    const disputes = await all(stripe.disputes.list(which));
    return [...refunds.map(ofRefund), ...disputes.map(ofDispute)];
  }
}

function checkoutOf(wanted: WantedCheckout): Stripe.Checkout.SessionCreateParams {
  const { id, grossGrosze, description, saveCard, language, returnUrl, expiresAt } = wanted;
  const price = { currency: 'pln', unit_amount: grossGrosze, product_data: { name: description } };
  const metadata = metadataOf(wanted);
  return {
    mode: 'payment',
    line_items: [{ quantity: 1, price_data: price }],
    // BLIK and Przelewy24 have nothing that could be charged later.
    allowed_payment_method_types: saveCard ? ['card'] : ['card', 'blik', 'p24'],
    // Otherwise payers abroad pay in a currency of theirs.
    adaptive_pricing: { enabled: false },
    client_reference_id: id,
    metadata,
    payment_intent_data: { metadata, ...(saveCard && { setup_future_usage: 'off_session' }) },
    ...(saveCard && { customer_creation: 'always' }),
    locale: language,
    success_url: returnUrl,
    cancel_url: returnUrl,
    expires_at: Math.floor(expiresAt.getTime() / 1000) - EARLIER_S,
  };
}

function chargeOf(
  wanted: WantedPayment,
  card: Pick<SavedCard, 'customer' | 'method'>,
): Stripe.PaymentIntentCreateParams {
  return {
    amount: wanted.grossGrosze,
    currency: 'pln',
    description: wanted.description,
    customer: card.customer,
    payment_method: card.method,
    // A redirect would need an address to return to.
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    confirm: true,
    off_session: true,
    metadata: metadataOf(wanted),
  };
}

const metadataOf = ({ id, accountId }: WantedPayment) => ({ payment: id, account: accountId });

function addressOf(baseUrl: string) {
  const { protocol, hostname, port } = new URL(baseUrl);
  const http = protocol === 'http:';
  return { protocol: http ? 'http' : 'https', host: hostname, port: port || (http ? 80 : 443) } as const;
}

async function all<T extends { id: string }>(list: Stripe.ApiListPromise<T>): Promise<T[]> {
  return await answered(list.autoPagingToArray({ limit: REVERSALS_MAX }));
}

const { StripeCardError, StripeError, StripeInvalidRequestError } = Stripe.errors;

/** Stripe cannot be asked now, or not with this key. */
class StripeFailedError extends Error {
  override readonly name = 'StripeFailedError';
}

// Only the texts of its errors go on: the objects hold secrets of payments, and headers.
async function answered<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof StripeError)) throw error;
    const { type, code, decline_code: declined, requestId, message } = error;
    const text = `${[type, code, declined, requestId].filter(Boolean).join(' ')}: ${message}`;
    const forGood = error instanceof StripeCardError || error instanceof StripeInvalidRequestError;
    if (forGood) throw new PaymentRefusedError(text);
    throw new StripeFailedError(text);
  }
}
