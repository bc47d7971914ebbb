import { createHash } from 'node:crypto';
import type { PaymentState, Reversal, SavedCard, WantedCheckout, WantedPayment } from '../domain/payments.ts';
import { type PaymentProcessor, PaymentRefusedError } from './processor.ts';

/** Where the simulated processor keeps its payments. */
export interface SimulatedPayments {
  open(session: string, wanted: WantedCheckout): Promise<void>;
  read(
    key: string,
  ): Promise<
    | (Pick<
        PaymentState,
        'state' | 'accountId' | 'grossGrosze' | 'currency' | 'live' | 'reference' | 'method'
      > & { session: string; paymentId: string; saveCard: boolean; reversals: Reversal[] })
    | undefined
  >;
  charge(reference: string, wanted: WantedPayment): Promise<void>;
  refund(session: string, refund: { id: string; grossGrosze: number }): Promise<boolean>;
}

const CARD: SavedCard = {
  customer: 'cus_simulated',
  method: 'pm_simulated',
  brand: 'simulated',
  last4: '4242',
};

/**
 * The simulated processor, without real money: its pages `/simulator/payments` pay, refuse, delay, refund and dispute. They are on the
 * host of the panel, as both are on this machine.
 */
export function simulatedProcessor(store: SimulatedPayments): PaymentProcessor {
  return {
    name: 'simulated',
    live: false,
    async startCheckout(wanted) {
      const session = sessionOf(wanted.id);
      await store.open(session, wanted);
      return { session, url: `/simulator/payments/${session}` };
    },
    async chargeCard(wanted) {
      const reference = `pi_${digestOf(wanted.id)}`;
      await store.charge(reference, wanted);
      return { reference };
    },
    async read({ session, reference }) {
      const checkout = await store.read(session ?? reference ?? '');
      if (checkout === undefined) throw new PaymentRefusedError('no such payment');
      const { paymentId, saveCard, ...state } = checkout;
      const keeps = saveCard && state.state === 'paid' && state.method === 'card';
      return { ...state, id: paymentId, card: keeps ? CARD : null };
    },
    async refund(reference, refund) {
      const checkout = await store.read(reference);
      if (checkout === undefined || !(await store.refund(checkout.session, refund)))
        throw new PaymentRefusedError('not that much is left to refund');
    },
  };
}

// The same for a repeated request.
const sessionOf = (id: string): string => `cs_${digestOf(id)}`;

function digestOf(id: string): string {
  return createHash('sha256').update(`simulated ${id}`).digest('hex').slice(0, 24);
}
