export type ProcessorName = 'simulated' | 'stripe';

/** A payment that a processor is asked for. */
export interface WantedPayment {
  /** Ours, `pay_…`: asked for again, the processor answers with the same payment. */
  id: string;
  accountId: string;
  grossGrosze: number;
  /** What the payer reads there. */
  description: string;
}

export interface WantedCheckout extends WantedPayment {
  language: 'pl' | 'en';
  /** Where the payer is sent afterwards; proves nothing. */
  returnUrl: string;
  expiresAt: Date;
  /** Keep the card, to charge it by `chargeCard` of the processor. */
  saveCard: boolean;
}

/** A card kept by the processor. */
export interface SavedCard {
  customer: string;
  method: string;
  brand: string;
  last4: string;
}

export interface Reversal {
  /** The processor's. */
  id: string;
  kind: 'refund' | 'dispute';
  grossGrosze: number;
  /** The money is with the payer: not after a failed refund or a won dispute. */
  stands: boolean;
}

/** A payment as it is at the processor now. */
export interface PaymentState {
  /** `unpaid`: completed by the payer and not confirmed yet. */
  state: 'open' | 'unpaid' | 'paid' | 'expired' | 'failed';
  /** Ours, as the processor knows it; null where it knows none. */
  id: string | null;
  accountId: string | null;
  /** What was asked for. */
  grossGrosze: number;
  /** ISO 4217, upper case. */
  currency: string;
  /** Real money. */
  live: boolean;
  /** The processor's payment; null until the payer has begun. */
  reference: string | null;
  method: 'card' | 'blik' | 'p24' | null;
  card: SavedCard | null;
  reversals: Reversal[];
}

/** Which payment an event is about: ours, where it says so, or the processor's. */
export interface PaymentEvent {
  id: string | null;
  reference: string | null;
}
