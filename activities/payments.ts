import type { Database } from '../db/connection.ts';
import { markAutomaticTopUpRefused, readAutomaticTopUp } from '../db/money/automaticTopUps.ts';
import { noteCharging, noteOpen, noteUnpaid, type PaymentRow, readPaymentRow } from '../db/money/payments.ts';
import { settleReservation } from '../db/money/reservations.ts';
import type { ProcessorName, SavedCard, WantedPayment } from '../domain/payments.ts';
import { settlePayment } from '../operations/money/settlePayment.ts';
import { type PaymentProcessor, PaymentRefusedError } from '../payments/processor.ts';
import type { PaymentProgress, RefundInput } from '../workflows/contracts.ts';
import { paymentRefused, unknownPayment } from './failures.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
// While it can be paid: ever less often, as the processor's events come at once.
const OPEN_LOOK_MAX_MS = 60 * MINUTE_MS;
// Card networks allow disputes for 13 months.
const FOLLOWED_MS = 400 * DAY_MS;
const PAID_LOOK_MS = 7 * DAY_MS;

/** Run as a local activity; safe to repeat. */
export function paymentStartActivities(sql: Database) {
  return { takePayment: (id: string): Promise<void> => settleReservation(sql, id) };
}

/**
 * @param processors by name: those that payments were ever made by and that are set up
 * @param current the one that payments are made by now
 */
export function paymentActivities(
  sql: Database,
  processors: readonly PaymentProcessor[],
  current: () => Promise<ProcessorName | null>,
) {
  const find = async (id: string): Promise<{ payment: PaymentRow; processor: PaymentProcessor }> => {
    const payment = await readPaymentRow(sql, id);
    if (payment === undefined) throw unknownPayment(id);
    const processor = processors.find(({ name }) => name === payment.processor);
    if (processor === undefined) throw new Error(`the processor ${payment.processor} is not set up here`);
    return { payment, processor };
  };
  return {
    /** Opens the checkout, once. */
    async openPayment(id: string): Promise<PaymentProgress> {
      const { payment, processor } = await find(id);
      if (payment.state !== 'starting') return progressOf(payment);
      if (payment.expiresAt.getTime() <= Date.now()) await noteUnpaid(sql, id, 'expired');
      else await open(sql, payment, processor);
      const opened = (await readPaymentRow(sql, id))!;
      // What a card was charged is known at once.
      return opened.automatic && opened.state === 'open'
        ? { ...progressOf(opened), lookAt: Date.now() }
        : progressOf(opened);
    },
    /** Reads the payment at its processor and books what it has come to. */
    async lookAtPayment(id: string, said: string | null): Promise<PaymentProgress> {
      const { payment, processor } = await find(id);
      // Of a charge whose answer was lost, an event says the reference.
      const reference = payment.reference === null ? said : referenceAt(payment.reference);
      if (payment.session === null && reference === null) return progressOf(payment);
      const found = await processor.read({ session: payment.session, reference });
      const isTrusted = processor.name !== 'simulated' || (await current()) === 'simulated';
      return progressOf(await settlePayment(sql, id, found, { isLive: processor.live, isTrusted }));
    },
    /** Asks the processor to give money back; looking at the payment books it. */
    async refundPayment(id: string, { id: refund, grossGrosze }: RefundInput): Promise<void> {
      const { payment, processor } = await find(id);
      if (payment.state !== 'paid' || payment.reference === null)
        throw paymentRefused('the payment is not paid');
      try {
        await processor.refund(referenceAt(payment.reference), { id: refund, grossGrosze });
      } catch (error) {
        if (error instanceof PaymentRefusedError) throw paymentRefused(error.message);
        throw error;
      }
    },
  };
}

/** The processor's own part of a reference. */
const referenceAt = (reference: string): string => reference.slice(reference.indexOf(':') + 1);

async function open(sql: Database, payment: PaymentRow, processor: PaymentProcessor): Promise<void> {
  const { id, accountId, automatic } = payment;
  try {
    await (automatic ? charge : openCheckout)(sql, payment, processor);
  } catch (error) {
    if (!(error instanceof PaymentRefusedError)) throw error;
    await noteUnpaid(sql, id, 'failed');
    if (automatic) await markAutomaticTopUpRefused(sql, accountId);
  }
}

async function openCheckout(sql: Database, payment: PaymentRow, processor: PaymentProcessor): Promise<void> {
  const { id, accountId, language, returnUrl, expiresAt, statementId } = payment;
  const settings = statementId === null ? await readAutomaticTopUp(sql, accountId) : null;
  // Automatic top-ups need a card.
  const saveCard = settings?.enabled === true && settings.card?.processor !== processor.name;
  const how = { language, returnUrl: returnUrl ?? '', expiresAt, saveCard };
  const { session, url } = await processor.startCheckout({ ...wanted(payment), ...how });
  await noteOpen(sql, id, { session, url, reference: null });
}

async function charge(sql: Database, payment: PaymentRow, processor: PaymentProcessor): Promise<void> {
  const { reference } = await processor.chargeCard(wanted(payment), await cardOf(sql, payment));
  await noteOpen(sql, payment.id, { session: null, url: null, reference: `${processor.name}:${reference}` });
}

/** The card to charge: the kept one, and where an answer was lost the one that was asked for. @throws PaymentRefusedError */
async function cardOf(sql: Database, payment: PaymentRow): Promise<Pick<SavedCard, 'customer' | 'method'>> {
  const { id, accountId, processor, chargedCustomer: customer, chargedMethod: method } = payment;
  if (customer !== null && method !== null) return { customer, method };
  const settings = await readAutomaticTopUp(sql, accountId);
  if (settings?.enabled !== true || settings.card?.processor !== processor)
    throw new PaymentRefusedError('automatic top-ups were turned off');
  await noteCharging(sql, id, settings.card);
  return settings.card;
}

function wanted({ id, accountId, grossGrosze, statementId }: PaymentRow): WantedPayment {
  const description =
    statementId === null ? `Goniec, doładowanie ${id}` : `Goniec, rozliczenie ${statementId}`;
  return { id, accountId, grossGrosze, description };
}

function progressOf({ state, createdAt, paidAt, processor }: PaymentRow): PaymentProgress {
  const now = Date.now();
  if (state === 'starting' || state === 'open') {
    const age = now - createdAt.getTime();
    return {
      details: `Waits for the payer at ${processor}.`,
      lookAt: now + Math.min(Math.max(age, MINUTE_MS), OPEN_LOOK_MAX_MS),
    };
  }
  if (paidAt === null) return { details: `Ended: ${state}.`, lookAt: null };
  const until = paidAt.getTime() + FOLLOWED_MS;
  if (now >= until) return { details: 'Ended: paid.', lookAt: null };
  const day = new Date(until).toISOString().slice(0, 10);
  return {
    details: `Paid and booked: waits for refunds and disputes until ${day}.`,
    lookAt: now + PAID_LOOK_MS,
  };
}
