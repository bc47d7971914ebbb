import { newId } from '../../db/ids.ts';
import { book } from '../../db/money/ledger.ts';
import {
  insertStatement,
  lastFullMonth,
  listStatements,
  lockStatement,
  markStatementPaid,
  monthlyAmount,
} from '../../db/money/statements.ts';
import { parseInstant } from '../../domain/instants.ts';
import { command, optional, required, type Outcome } from './command.ts';
import { findAccount, holdAccount } from './lookup.ts';
import { invalidArgument, notFound, refused } from './problems.ts';
import { accountId, month, statementId, text } from './values.ts';

const account = required('ID', 'the account', accountId);
const instant = text
  .refine(
    (input) => parseInstant(input) !== null,
    'a time with offset such as 2026-12-15T12:00:00+01:00 is needed',
  )
  .transform((input) => new Date(parseInstant(input) ?? NaN));

const issue = command({
  name: 'statements issue',
  about: 'Issues the statement of a postpaid account for a month that is over: charges less refunds.',
  options: {
    account,
    month: optional('YYYY-MM', 'a month in Polish time; default: the last one', month),
    due: optional('TIME', 'default: 14 days from now; unpaid by then, sends are refused', instant),
  },
  async run(sql, values): Promise<Outcome> {
    // Held first: charges still being booked end before the sum is taken.
    const { id, billing_mode: billing } = await holdAccount(sql, values.account);
    if (billing !== 'postpaid')
      throw refused(`The account ${id} is prepaid; statements are for postpaid ones.`);
    const last = await lastFullMonth(sql);
    const billed = values.month ?? last;
    if (billed > last) throw invalidArgument('--month', `${billed} is not over yet`);
    const statement = await insertStatement(sql, {
      id: newId('st'),
      account: id,
      month: billed,
      amountGrosze: await monthlyAmount(sql, id, billed),
      dueAt: values.due ?? null,
    });
    if (statement === undefined) throw refused(`The account ${id} has a statement for ${billed} already.`);
    return {
      result: { ...statement },
      account: id,
      subject: statement.id,
      details: {
        month: billed,
        amount_grosze: statement.amount_grosze,
        due_at: statement.due_at.toISOString(),
      },
    };
  },
});

const pay = command({
  name: 'statements pay',
  about: 'Marks a statement as paid and books the payment, once.',
  options: { statement: required('STATEMENT_ID', 'the statement', statementId) },
  positional: ['statement'],
  async run(sql, values): Promise<Outcome> {
    if ((await lockStatement(sql, values.statement)) === undefined) {
      throw notFound(`There is no statement ${values.statement}.`);
    }
    const paid = await markStatementPaid(sql, values.statement);
    if (paid === undefined) throw refused(`The statement ${values.statement} is paid already.`);
    const { id, account_id: payer, amount_grosze: grosze } = paid;
    await book(sql, { account: payer, kind: 'payment', grosze, note: id });
    return {
      result: { ...paid, balance_grosze: (await findAccount(sql, payer)).balance_grosze },
      account: payer,
      subject: id,
      details: { amount_grosze: grosze },
    };
  },
});

const list = command({
  name: 'statements list',
  about: 'Lists the statements of an account, the latest month first.',
  options: { account },
  async run(sql, values): Promise<Outcome> {
    const { id } = await findAccount(sql, values.account);
    return { result: { data: await listStatements(sql, id) }, account: id };
  },
});

export const statementCommands = [issue, pay, list];
