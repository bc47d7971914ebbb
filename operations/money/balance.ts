import type { AuditDetails } from '../../db/accounts/audit.ts';
import type { AccountDetails } from '../../db/accounts/staff.ts';
import type { Sql } from '../../db/connection.ts';
import { book, readPayment } from '../../db/money/ledger.ts';
import { setTerms } from '../../db/money/payments.ts';
import { MIN_TOP_UP_GROSZE, rateAfterTopUp } from '../../domain/money.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { findAccount, findAccountForUpdate, findOpenAccountForUpdate } from '../accounts/accounts.ts';
import { recorded } from '../staff.ts';

interface TopUp {
  account: string;
  /** Net. */
  grosze: number;
  /** The payer's or bank's reference; a payment is booked once per reference. */
  reference?: string;
}

/**
 * Books a paid top-up, which fixes the price per part permanently and makes a test account live (v2.3.0, Limits, Prices).
 * @returns `booked` is false if this payment was booked before; then nothing has changed
 * @throws StaffRefused also below 50 PLN, and for the reference of another payment
 */
export const topUp = recorded('topup', async (sql, { account: id, grosze, reference }: TopUp) => {
  const before = await findOpenAccountForUpdate(sql, id);
  if (rateAfterTopUp(before.pricePerPartGrosze, grosze) === null) {
    throw new StaffRefused({ reason: 'top_up_too_small', minGrosze: MIN_TOP_UP_GROSZE });
  }
  const named = reference === undefined ? {} : { reference };
  if (reference !== undefined && (await wasBooked(sql, id, grosze, reference))) {
    const details = { amount_grosze: grosze, ...named, booked: false };
    return { data: { account: before, booked: false }, account: id, details };
  }
  const booked = await bookTopUp(sql, before, { grosze, ...named });
  return { data: { account: await findAccount(sql, id), booked: true }, account: id, details: booked };
});

/**
 * Books a top-up of an open account that the caller has locked: of two concurrent ones, the second must see the price that the first has
 * fixed. @returns what the audit log says of it
 */
export async function bookTopUp(
  tx: Sql,
  account: AccountDetails,
  { grosze, reference }: { grosze: number; reference?: string },
): Promise<AuditDetails> {
  const { id, pricePerPartGrosze, mode } = account;
  const rate = rateAfterTopUp(pricePerPartGrosze, grosze) ?? pricePerPartGrosze;
  const named = reference === undefined ? {} : { reference };
  await book(tx, { account: id, kind: 'topup', grosze, ...named });
  await setTerms(tx, id, { pricePerPartGrosze: rate, mode: 'live' });
  return {
    amount_grosze: grosze,
    ...named,
    price_per_part_grosze: { from: pricePerPartGrosze, to: rate },
    mode: { from: mode, to: 'live' },
  };
}

async function wasBooked(sql: Sql, account: string, grosze: number, reference: string): Promise<boolean> {
  const known = await readPayment(sql, account, reference);
  if (known === undefined) return false;
  if (known.kind === 'topup' && known.amountGrosze === grosze) return true;
  throw new StaffRefused({ reason: 'reference_used', account, reference });
}

/** Adjusts a balance with a ledger entry; negative to deduct, net. @returns the new balance @throws StaffRefused */
export const adjustBalance = recorded(
  'adjust',
  async (sql, { account, grosze, note }: { account: string; grosze: number; note: string }) => {
    await findAccountForUpdate(sql, account);
    await book(sql, { account, kind: 'adjustment', grosze, note });
    const { balanceGrosze } = await findAccount(sql, account);
    return { data: { balanceGrosze }, account, details: { amount_grosze: grosze, note } };
  },
);
