import { byColumnName } from '../../db/columnNames.ts';
import { listStatements } from '../../db/money/statements.ts';
import { parseInstant } from '../../domain/instants.ts';
import { findAccount } from '../../operations/accounts/find.ts';
import { issueStatement, payStatement, sendStatement } from '../../operations/money/statements.ts';
import { command, optional, required, type Outcome, type Shown } from './command.ts';
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
  about:
    'Issues the statement of a postpaid account for a month that has been over for five minutes: charges less refunds. It is e-mailed to the contact address.',
  options: {
    account,
    month: optional('YYYY-MM', 'a month in Polish time; default: the last one that can be issued', month),
    due: optional('TIME', 'default: 14 days from now; unpaid by then, sends are refused', instant),
  },
  async ask(asking, input): Promise<Shown> {
    return { result: byColumnName(await issueStatement({ ...asking, input })) };
  },
});

const send = command({
  name: 'statements send',
  about: "Has a statement e-mailed to the account's contact address again; one that waits is tried at once.",
  options: { statement: required('STATEMENT_ID', 'the statement', statementId) },
  async ask(asking, input): Promise<Shown> {
    return {
      result: byColumnName(await sendStatement({ ...asking, input })),
      remark: 'A worker with OWN_EMAIL_ACCOUNT e-mails it within seconds; see statements list.',
    };
  },
});

const pay = command({
  name: 'statements pay',
  about: 'Marks a statement as paid and books the payment, once.',
  options: { statement: required('STATEMENT_ID', 'the statement', statementId) },
  positional: ['statement'],
  async ask(asking, input): Promise<Shown> {
    const { statement, balanceGrosze } = await payStatement({ ...asking, input });
    return { result: byColumnName({ ...statement, balanceGrosze }) };
  },
});

const list = command({
  name: 'statements list',
  about: 'Lists the statements of an account, the latest month first, and what became of their e-mails.',
  options: { account },
  async run(sql, values): Promise<Outcome> {
    const { id } = await findAccount(sql, values.account);
    return { result: { data: (await listStatements(sql, id)).map(byColumnName) }, account: id };
  },
});

export const statementCommands = [issue, pay, send, list];
