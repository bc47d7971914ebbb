import { newId } from '../../db/ids.ts';
import { book } from '../../db/money/ledger.ts';
import {
  insertStatement,
  lastFullMonth,
  lockStatement,
  markStatementPaid,
  monthlyAmount,
  type StatementRow,
} from '../../db/money/statements.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { findAccount, holdAccount } from '../accounts/find.ts';
import { recorded } from '../staff.ts';

interface IssueInput {
  account: string;
  /** `YYYY-MM`, in Polish time; the last one that is over unless it says otherwise. */
  month?: string;
  /** 14 days from now unless it says otherwise. */
  due?: Date;
}

/**
 * Issues the statement of a postpaid account for a month that is over: charges less refunds.
 * @throws StaffRefused
 */
export const issueStatement = recorded('statements issue', async (sql, input: IssueInput) => {
  const { account } = input;
  // Held first: charges still being booked end before the sum is taken.
  const { billingMode: billing } = await holdAccount(sql, account);
  if (billing !== 'postpaid') throw new StaffRefused({ reason: 'account_prepaid', account });
  const last = await lastFullMonth(sql);
  const { month = last, due = null } = input;
  if (month > last) throw new StaffRefused({ reason: 'month_not_over', month });
  const amountGrosze = await monthlyAmount(sql, account, month);
  const statement: StatementRow | undefined = await insertStatement(sql, {
    ...{ id: newId('st'), account, month, amountGrosze, dueAt: due },
  });
  if (statement === undefined) throw new StaffRefused({ reason: 'statement_exists', account, month });
  return {
    data: statement,
    account,
    subject: statement.id,
    details: { month, amount_grosze: amountGrosze, due_at: statement.dueAt.toISOString() },
  };
});

/**
 * Marks a statement as paid and books the payment, once.
 * @returns the statement, and the account's balance afterwards
 * @throws StaffRefused
 */
export const payStatement = recorded('statements pay', async (sql, { statement }: { statement: string }) => {
  if ((await lockStatement(sql, statement)) === undefined) {
    throw new StaffRefused({ reason: 'statement_missing', statement });
  }
  const paid = await markStatementPaid(sql, statement);
  if (paid === undefined) throw new StaffRefused({ reason: 'statement_paid', statement });
  const { id, accountId: account, amountGrosze: grosze } = paid;
  await book(sql, { account, kind: 'payment', grosze, subject: { kind: 'statement', id } });
  const { balanceGrosze } = await findAccount(sql, account);
  return {
    data: { statement: paid, balanceGrosze },
    account,
    subject: id,
    details: { amount_grosze: grosze },
  };
});
