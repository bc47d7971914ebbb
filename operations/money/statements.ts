import type { AccountDetails } from '../../db/accounts/staff.ts';
import type { Sql } from '../../db/connection.ts';
import { addStatementEmail, expediteStatementEmail, readRecipients } from '../../db/emails/ownEmails.ts';
import { newId } from '../../db/ids.ts';
import { book } from '../../db/money/ledger.ts';
import { requestDocuments } from '../../db/money/statementDocuments.ts';
import {
  insertStatement,
  isCurrent,
  lastSettledMonth,
  lockStatement,
  markStatementPaid,
  monthlySum,
  settledAt,
  type StatementRow,
} from '../../db/money/statements.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { findAccount, findAccountForUpdate } from '../accounts/accounts.ts';
import { recorded } from '../staff.ts';

interface IssueInput {
  account: string;
  /** `YYYY-MM`, in Polish time; by default the last month that ended some minutes ago or longer. */
  month?: string;
  /** 14 days from now by default. */
  due?: Date;
}

interface IssuedStatement extends StatementRow {
  emailStatus: 'waiting' | null;
}

/** Issues and e-mails a postpaid account's statement (charges less refunds) for a month over for some minutes. @throws StaffRefused */
export const issueStatement = recorded('statements issue', async (sql, input: IssueInput) => {
  const { account } = input;
  requirePostpaid(await findAccount(sql, account));
  const last = await lastSettledMonth(sql);
  const { month = last, due = null } = input;
  if (month > last) {
    throw new StaffRefused({ reason: 'month_not_over', month, issuableAt: await settledAt(sql, month) });
  }
  const amountGrosze = await sumAndHold(sql, account, month);
  const statement: StatementRow | undefined = await insertStatement(sql, {
    id: newId('st'),
    account,
    month,
    amountGrosze,
    dueAt: due,
  });
  if (statement === undefined) throw new StaffRefused({ reason: 'statement_exists', account, month });
  await requestDocuments(sql, statement.id);
  const emailed = amountGrosze > 0 && (await readRecipients(sql, account)).length > 0;
  if (emailed) await addStatementEmail(sql, statement.id);
  const data: IssuedStatement = { ...statement, emailStatus: emailed ? 'waiting' : null };
  return {
    data,
    account,
    subject: statement.id,
    details: { month, amount_grosze: amountGrosze, due_at: statement.dueAt.toISOString(), emailed },
  };
});

/** Sums a month before locking the account, so that charges do not wait for the ledger scan; sums again if inputs changed in between. */
async function sumAndHold(sql: Sql, account: string, month: string): Promise<number> {
  const sum = await monthlySum(sql, account, month);
  requirePostpaid(await findAccountForUpdate(sql, account));
  const { amount } = (await isCurrent(sql, account, sum)) ? sum : await monthlySum(sql, account, month);
  return amount;
}

function requirePostpaid({ id: account, billingMode }: AccountDetails): void {
  if (billingMode !== 'postpaid') throw new StaffRefused({ reason: 'account_prepaid', account });
}

/** E-mails a statement (again); a pending e-mail of it is retried immediately. @throws StaffRefused */
export const sendStatement = recorded(
  'statements send',
  async (sql, { statement: id }: { statement: string }) => {
    const statement = await lockStatement(sql, id);
    if (statement === undefined) throw new StaffRefused({ reason: 'statement_missing', statement: id });
    const { accountId: account } = statement;
    if ((await readRecipients(sql, account)).length === 0)
      throw new StaffRefused({ reason: 'contact_email_missing', account });
    if (!(await expediteStatementEmail(sql, id))) await addStatementEmail(sql, id);
    const data: IssuedStatement = { ...statement, emailStatus: 'waiting' };
    return { data, account, subject: id };
  },
);

/** Marks a statement as paid and books the payment, once. @returns the statement and the new balance @throws StaffRefused */
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
