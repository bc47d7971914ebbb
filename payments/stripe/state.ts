import type Stripe from 'stripe';
import type { PaymentState, Reversal, SavedCard } from '../../domain/payments.ts';

const UNDONE = new Set<string | null>(['failed', 'canceled']);
const OVER = new Set<string>(['requires_payment_method', 'canceled']);
const METHODS = ['card', 'blik', 'p24'] as const;

/** @param session with its `payment_intent.latest_charge.refunds` */
export function ofSession(session: Stripe.Checkout.Session): Omit<PaymentState, 'reversals'> {
  const intent = whole(session.payment_intent);
  return {
    ...ofPayer(intent),
    state: stateOfSession(session, intent),
    id: session.client_reference_id,
    accountId: session.metadata?.['account'] ?? null,
    grossGrosze: session.amount_total ?? 0,
    currency: session.currency?.toUpperCase() ?? '',
    live: session.livemode,
  };
}

/** @param intent with its `latest_charge.refunds` */
export function ofIntent(intent: Stripe.PaymentIntent): Omit<PaymentState, 'reversals'> {
  return {
    ...ofPayer(intent),
    state: intent.status === 'succeeded' ? 'paid' : OVER.has(intent.status) ? 'failed' : 'unpaid',
    id: intent.metadata['payment'] ?? null,
    accountId: intent.metadata['account'] ?? null,
    grossGrosze: intent.amount,
    currency: intent.currency.toUpperCase(),
    live: intent.livemode,
  };
}

/** A refund that failed later is no reversal any more. */
export function ofRefund({ id, amount, status }: Stripe.Refund): Reversal {
  return { id, kind: 'refund', grossGrosze: amount, stands: !UNDONE.has(status) };
}

/**
 * A dispute stands while its money is withdrawn: an inquiry takes none, and what was won is returned. The amounts are in the currency of
 * the operator's account, so the rate may have changed in between.
 */
export function ofDispute({ id, amount, status, balance_transactions }: Stripe.Dispute): Reversal {
  const withdrawn = balance_transactions.reduce((sum, moved) => sum - Math.sign(moved.amount), 0);
  return { id, kind: 'dispute', grossGrosze: amount, stands: status !== 'won' && withdrawn > 0 };
}

/** An object that was asked for as a whole. */
export function whole<T extends object>(object: string | T | null): T | null {
  return typeof object === 'string' ? null : object;
}

// What is completed and unpaid waits for the bank; where that refuses, the payment is to be paid anew.
function stateOfSession(
  { status, payment_status }: Stripe.Checkout.Session,
  intent: Stripe.PaymentIntent | null,
): PaymentState['state'] {
  if (payment_status === 'paid') return 'paid';
  if (status === 'open') return 'open';
  if (status === 'expired') return 'expired';
  return intent !== null && OVER.has(intent.status) ? 'failed' : 'unpaid';
}

function ofPayer(intent: Stripe.PaymentIntent | null): Pick<PaymentState, 'reference' | 'method' | 'card'> {
  const charge = whole(intent?.latest_charge ?? null);
  const type = charge?.payment_method_details?.type;
  return {
    reference: intent?.id ?? null,
    method: METHODS.find((method) => method === type) ?? null,
    card: intent && charge && savedCard(intent, charge),
  };
}

function savedCard(intent: Stripe.PaymentIntent, charge: Stripe.Charge): SavedCard | null {
  const { payment_method: method, payment_method_details: details } = charge;
  const customer = typeof intent.customer === 'string' ? intent.customer : intent.customer?.id;
  if (intent.setup_future_usage !== 'off_session' || !customer || !method || !details?.card) return null;
  return { customer, method, brand: details.card.brand ?? 'card', last4: details.card.last4 ?? '' };
}
