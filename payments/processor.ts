import type { IncomingHttpHeaders } from 'node:http';

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
  /** Keep the card, to charge it by {@link PaymentProcessor.chargeCard}. */
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

/** An event that the processor did not sign, or too long ago. */
export class ForgedEventError extends Error {
  override readonly name = 'ForgedEventError';
}

/** The processor refuses for good: a declined card, a request that it does not understand. */
export class PaymentRefusedError extends Error {
  override readonly name = 'PaymentRefusedError';
}

/** All calls are idempotent by our ids. They throw PaymentRefusedError, or anything else if the processor is to be asked again. */
export interface PaymentProcessor {
  readonly name: 'simulated' | 'stripe';
  /** Whether our key moves real money; a payment of the other mode is not ours. */
  readonly live: boolean;
  startCheckout(wanted: WantedCheckout): Promise<{ session: string; url: string }>;
  /** Charges a kept card, without the payer. */
  chargeCard(wanted: WantedPayment, card: SavedCard): Promise<{ reference: string }>;
  /** @param payment the session of a checkout, or the reference of a charged card */
  read(payment: { session: string | null; reference: string | null }): Promise<PaymentState>;
  /** @param id of this refund, ours */
  refund(reference: string, refund: { id: string; grossGrosze: number }): Promise<void>;
}

/** Reads the body of an event. @returns null if it is about no payment @throws ForgedEventError */
export type EventReader = (body: Buffer, headers: IncomingHttpHeaders) => PaymentEvent | null;
