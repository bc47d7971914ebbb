import { type OperatorAccount, updateAccount } from '../../db/accounts/operators.ts';
import { book } from '../../db/money/ledger.ts';
import { MIN_TOP_UP_GROSZE, rateAfterTopUp } from '../../domain/price.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { findAccount, holdOpenAccount } from '../accounts/find.ts';
import { recorded } from '../staff.ts';

interface Input {
  account: string;
  /** Net. */
  grosze: number;
}

/**
 * Books a paid top-up, which fixes the price per part for good and makes a test account live (v2.3.0, Limits, Prices).
 * @returns the account afterwards
 * @throws StaffRefused also below 50 PLN
 */
export const topUp = recorded('topup', async (sql, { account: id, grosze }: Input) => {
  // Held before the price is read: of two top-ups at once the second sees what the first has fixed.
  const before = await holdOpenAccount(sql, id);
  const rate = rateAfterTopUp(before.price_per_part_grosze, grosze);
  if (rate === null) {
    throw new StaffRefused({ reason: 'top_up_too_small', minGrosze: MIN_TOP_UP_GROSZE });
  }
  await book(sql, { account: id, kind: 'topup', grosze });
  await updateAccount(sql, id, { price_per_part_grosze: rate, mode: 'live' });
  const data: OperatorAccount = await findAccount(sql, id);
  return {
    data,
    account: id,
    details: {
      amount_grosze: grosze,
      price_per_part_grosze: { from: before.price_per_part_grosze, to: rate },
      mode: { from: before.mode, to: data.mode },
    },
  };
});
