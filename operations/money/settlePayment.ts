import { writeAudit, type AuditDetails } from '../../db/accounts/audit.ts';
import { type AccountDetails, lockAccount } from '../../db/accounts/staff.ts';
import { type Database, type Sql, transaction } from '../../db/connection.ts';
import { closeFindings, reportFinding } from '../../db/maintenance/findings.ts';
import { markAutomaticTopUpRefused, removeCard, saveCard } from '../../db/money/automaticTopUps.ts';
import { book, readPayment } from '../../db/money/ledger.ts';
import {
  addToReversal,
  insertReversal,
  lockPayment,
  notePaid,
  noteReturned,
  noteUnpaid,
  type PaymentRow,
  readPaymentRow,
  type ReversalRow,
  reversalsOf,
  setTerms,
  standingTopUps,
} from '../../db/money/payments.ts';
import { lockStatement, markStatementPaid } from '../../db/money/statements.ts';
import { FIRST_RATE_GROSZE, rateAfterTopUp } from '../../domain/money.ts';
import type { PaymentState, Reversal } from '../../domain/payments.ts';
import { netOfReversal } from '../../domain/vat.ts';
import { bookTopUp } from './balance.ts';

/** As the audit log names it. */
const ACTOR = 'payments';
const CURRENCY = 'PLN';

interface Processor {
  isLive: boolean;
  /** Not the simulated one, unless payments are made by it: whoever writes to the database pays by that. */
  isTrusted: boolean;
}

/**
 * Books what a payment has come to at its processor: paid, ended unpaid, taken back in parts. Each of it once, however often and in
 * whatever order it is found; nothing if the payment there is not the one that we asked for, which staff have to look at.
 */
export async function settlePayment(
  sql: Database,
  id: string,
  found: PaymentState,
  processor: Processor,
): Promise<PaymentRow> {
  const { accountId } = (await readPaymentRow(sql, id))!;
  return await transaction(sql, async (tx) => {
    const account = (await lockAccount(tx, accountId))!;
    const payment = (await lockPayment(tx, id))!;
    const differs = differences(payment, found, processor);
    if (differs.length > 0) {
      await report(tx, payment, 'payment_differs', { differs });
      return payment;
    }
    await closeFindings(tx, ['payment_differs'], [id]);
    if (found.state === 'expired' || found.state === 'failed') {
      await noteUnpaid(tx, id, found.state);
      if (payment.automatic) await markAutomaticTopUpRefused(tx, accountId);
    }
    if (found.state === 'paid') {
      if (payment.state !== 'paid') await bookPaid(tx, account, payment, found);
      await bookReversals(tx, account, payment, found.reversals);
      await watchBalance(tx, accountId);
    }
    return (await readPaymentRow(tx, id))!;
  });
}

/** What is not as we asked for it. */
function differences(payment: PaymentRow, found: PaymentState, { isLive, isTrusted }: Processor): string[] {
  const reference = referenceOf(payment, found);
  const same = {
    payment: found.id === payment.id,
    account: found.accountId === payment.accountId,
    amount: found.grossGrosze === payment.grossGrosze,
    currency: found.currency === CURRENCY,
    mode: found.live === isLive,
    processor: isTrusted || found.state !== 'paid' || payment.state === 'paid',
    reference: payment.reference === null || reference === payment.reference,
  };
  return Object.entries(same).flatMap(([name, is]) => (is ? [] : [name]));
}

function referenceOf({ processor }: PaymentRow, { reference }: PaymentState): string | null {
  return reference === null ? null : `${processor}:${reference}`;
}

async function bookPaid(
  tx: Sql,
  account: AccountDetails,
  payment: PaymentRow,
  found: PaymentState,
): Promise<void> {
  const reference = referenceOf(payment, found);
  if (reference === null) throw new Error(`${payment.id} is paid and has no reference`);
  await notePaid(tx, payment.id, { reference, method: found.method });
  if (found.card !== null) await saveCard(tx, account.id, { processor: payment.processor, ...found.card });
  await audit(tx, payment, 'payment book', await bookMoney(tx, account, payment, reference));
}

/** Whatever was paid is booked, even where nothing was owed any more: staff decide what becomes of it. */
async function bookMoney(
  tx: Sql,
  account: AccountDetails,
  payment: PaymentRow,
  reference: string,
): Promise<AuditDetails> {
  const { netGrosze: grosze, statementId, accountId } = payment;
  // Staff may have booked it by hand before.
  const known = await readPayment(tx, accountId, reference);
  if (known !== undefined) {
    if (known.amountGrosze !== grosze) await report(tx, payment, 'payment_unowed', { why: 'reference_used' });
    return { amount_grosze: 0 };
  }
  if (statementId !== null) {
    const statement = await lockStatement(tx, statementId);
    if (statement?.paidAt === null) {
      await markStatementPaid(tx, statementId);
      const subject = { kind: 'statement', id: statementId } as const;
      await book(tx, { account: accountId, kind: 'payment', grosze, subject, reference });
      return { amount_grosze: grosze, statement: statementId };
    }
  } else if (account.status !== 'closed') {
    return await bookTopUp(tx, account, { grosze, reference });
  }
  await report(tx, payment, 'payment_unowed', {
    why: statementId === null ? 'account_closed' : 'statement_paid',
  });
  await book(tx, { account: accountId, kind: 'topup', grosze, reference });
  return { amount_grosze: grosze };
}

async function bookReversals(
  tx: Sql,
  account: AccountDetails,
  payment: PaymentRow,
  found: readonly Reversal[],
): Promise<void> {
  const before = await earned(tx, account.id);
  // What returns makes room for what goes: of a payment no more than the whole is taken.
  for (const reversal of found.toSorted((one, other) => Number(one.stands) - Number(other.stands))) {
    const known = await reversalsOf(tx, payment.id);
    const noted = known.find(({ id }) => id === reversal.id);
    const standing = known.filter(({ id, returnedAt }) => returnedAt === null && id !== reversal.id);
    if (noted === undefined && reversal.stands) {
      const netGrosze = netOfReversal(payment, sumOf(standing), reversal.grossGrosze);
      await insertReversal(tx, payment.id, reversal, netGrosze);
      await bookReversal(tx, payment, reversal, -netGrosze);
      // A card whose payer took money back is not charged again.
      if (reversal.kind === 'dispute' || payment.automatic) await removeCard(tx, account.id);
    } else if (noted?.returnedAt === null && !reversal.stands) {
      await noteReturned(tx, payment.id, reversal.id);
      // Others that stand may take what this one took alone, until the whole is taken.
      const moved = netOfReversal(payment, sumOf(standing), 0);
      if (moved > 0) await addToReversal(tx, payment.id, standing[0]!.id, moved);
      await bookReversal(tx, payment, reversal, noted.netGrosze - moved);
    } else if (noted !== undefined && noted.returnedAt !== null && reversal.stands) {
      await report(tx, payment, 'payment_differs', { differs: ['reversal'] });
    }
  }
  await adaptRate(tx, payment, before);
}

function sumOf(reversals: readonly ReversalRow[]) {
  const sum = (of: (one: ReversalRow) => number): number =>
    reversals.reduce((total, one) => total + of(one), 0);
  return { netGrosze: sum((one) => one.netGrosze), grossGrosze: sum((one) => one.grossGrosze) };
}

/** @param grosze net, negative when the money goes */
async function bookReversal(
  tx: Sql,
  payment: PaymentRow,
  { id, kind, stands, grossGrosze }: Reversal,
  grosze: number,
): Promise<void> {
  const reference = `${payment.processor}:${id}${stands ? '' : ':returned'}`;
  const booked = kind === 'refund' ? 'payment_refund' : 'dispute';
  await book(tx, { account: payment.accountId, kind: booked, grosze, reference });
  await audit(tx, payment, `payment ${kind}`, { amount_grosze: grosze, gross_grosze: grossGrosze });
  // Of a refund staff have to know where a statement stays paid by nothing.
  const { statementId: statement } = payment;
  const finding = kind === 'dispute' ? 'payment_disputed' : 'payment_refunded';
  if (kind === 'refund' && statement === null) return;
  if (stands) await report(tx, payment, finding, { gross_grosze: grossGrosze, statement });
  else await closeFindings(tx, [finding], [payment.id]);
}

interface Earned {
  /** Something stays paid. */
  isPaid: boolean;
  /** The price of it: never above the one that staff agreed with the customer. */
  price: number;
}

async function earned(tx: Sql, account: string): Promise<Earned> {
  const { largestGrosze, sumGrosze, agreedPriceGrosze } = await standingTopUps(tx, account);
  const isPaid = sumGrosze > 0;
  const price = agreedPriceGrosze ?? FIRST_RATE_GROSZE;
  return { isPaid, price: isPaid ? (rateAfterTopUp(price, largestGrosze) ?? price) : price };
}

/**
 * Undoes what a top-up fixed that was taken back, and fixes it again when it returns: the best rate of what stays paid; with nothing left, a
 * prepaid account cannot send live. A price that staff agreed afterwards stays.
 */
async function adaptRate(tx: Sql, payment: PaymentRow, before: Earned): Promise<void> {
  const { accountId: id } = payment;
  const after = await earned(tx, id);
  if (after.isPaid === before.isPaid && after.price === before.price) return;
  const { pricePerPartGrosze: price, billingMode, mode } = (await lockAccount(tx, id))!;
  const pricePerPartGrosze = price === before.price ? after.price : price;
  const nextMode = billingMode === 'postpaid' ? mode : after.isPaid ? 'live' : 'test';
  await setTerms(tx, id, { pricePerPartGrosze, mode: nextMode });
  await audit(tx, payment, 'payment terms', {
    price_per_part_grosze: { from: price, to: pricePerPartGrosze },
    mode: { from: mode, to: nextMode },
  });
}

/** A prepaid balance below zero stops sends by itself; staff have to know. */
async function watchBalance(tx: Sql, id: string): Promise<void> {
  const { balanceGrosze, billingMode } = (await lockAccount(tx, id))!;
  if (billingMode === 'postpaid' || balanceGrosze >= 0)
    return await closeFindings(tx, ['balance_negative'], [id]);
  const details = { balance_grosze: balanceGrosze };
  await reportFinding(tx, { kind: 'balance_negative', subject: id, accountId: id, details });
}

async function report(
  tx: Sql,
  { id, accountId }: PaymentRow,
  kind: 'payment_differs' | 'payment_disputed' | 'payment_refunded' | 'payment_unowed',
  details: AuditDetails,
): Promise<void> {
  await reportFinding(tx, { kind, subject: id, accountId, details });
}

async function audit(
  tx: Sql,
  { id, accountId }: PaymentRow,
  action: string,
  details: AuditDetails,
): Promise<void> {
  await writeAudit(tx, { actor: ACTOR, action, account: accountId, subject: id, details });
}
