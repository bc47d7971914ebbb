import { book } from '../../db/money/ledger.ts';
import { findAccount, holdAccount } from '../accounts/find.ts';
import { recorded } from '../staff.ts';

interface Input {
  account: string;
  /** Net, negative to take away. */
  grosze: number;
  /** The reason, kept in the ledger. */
  note: string;
}

/** Corrects a balance by a ledger entry. @returns the balance afterwards @throws StaffRefused */
export const adjustBalance = recorded('adjust', async (sql, { account, grosze, note }: Input) => {
  await holdAccount(sql, account);
  await book(sql, { account, kind: 'adjustment', grosze, note });
  const { balanceGrosze } = await findAccount(sql, account);
  return { data: { balanceGrosze }, account, details: { amount_grosze: grosze, note } };
});
