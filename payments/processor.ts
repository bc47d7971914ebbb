import type { IncomingHttpHeaders } from 'node:http';
import type {
  PaymentEvent,
  PaymentState,
  ProcessorName,
  SavedCard,
  WantedCheckout,
  WantedPayment,
} from '../domain/payments.ts';

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
  readonly name: ProcessorName;
  /** Whether our key moves real money; a payment of the other mode is not ours. */
  readonly live: boolean;
  startCheckout(wanted: WantedCheckout): Promise<{ session: string; url: string }>;
  /** Charges a kept card, without the payer. */
  chargeCard(
    wanted: WantedPayment,
    card: Pick<SavedCard, 'customer' | 'method'>,
  ): Promise<{ reference: string }>;
  /** @param payment the session of a checkout, or the reference of a charged card */
  read(payment: { session: string | null; reference: string | null }): Promise<PaymentState>;
  /** @param id of this refund, ours */
  refund(reference: string, refund: { id: string; grossGrosze: number }): Promise<void>;
}

/** Reads the body of an event. @returns null if it is about no payment @throws ForgedEventError */
export type EventReader = (body: Buffer, headers: IncomingHttpHeaders) => PaymentEvent | null;
