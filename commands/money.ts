import { writeFile } from 'node:fs/promises';
import { listLedger, readLedgerState } from '../db/money/ledger.ts';
import { paymentsOf, readPaymentRow, reversalsOf } from '../db/money/payments.ts';
import { readDocument } from '../db/money/statementDocuments.ts';
import { listStatements } from '../db/money/statements.ts';
import { DOCUMENT_FORMATS, type DocumentFormat } from '../domain/statements.ts';
import { MAX_GROSZE, NOTE_LENGTH } from '../domain/money.ts';
import { StaffRefused } from '../domain/refusals.ts';
import { refundable, refundPayment } from '../operations/money/refundPayment.ts';
import { adjustBalance, topUp } from '../operations/money/balance.ts';
import { issueStatement, payStatement, sendStatement } from '../operations/money/statements.ts';
import { errorText } from '../domain/errors.ts';
import { invalidArgument, notFound } from './errors.ts';
import { command, optional, required, shown } from './command.ts';
import { account, id, instant, limit, line, month, onlyAccount, pln, wholeNumber } from './values.ts';

const PATH_LENGTH = 1_000;
const note = line(NOTE_LENGTH);
const payment = required('--payment <PAYMENT_ID>', 'the payment', id('pay', 'a payment'));
const statementId = id('st', 'a statement');
const due = instant.transform((at) => new Date(at));
const signedGrosze = wholeNumber(-MAX_GROSZE, MAX_GROSZE, ' of grosze').refine(
  (value) => value !== 0,
  'zero changes nothing',
);

// Without a fault of the ledger they differ only if the reconciliation's stored sum, from which this one starts, is wrong.
const DIFFER =
  'They differ since the last check. The reconciliation sums the whole ledger up again every 10 minutes, and says where that differs too: findings list.';

const documentCommand = (format: DocumentFormat) =>
  command({
    name: `statements ${format}`,
    about: `Writes a statement's ${format.toUpperCase()} into a new file.`,
    options: {
      statement: required('--statement <STATEMENT_ID>', 'the statement', statementId),
      out: required('--out <FILE>', 'the file', line(PATH_LENGTH)),
    },
    async run(sql, { statement, out }) {
      const document = await readDocument(sql, statement, format);
      if (document === undefined) throw notFound(`${statement} has no ${format.toUpperCase()} yet.`);
      await writeFile(out, document, { flag: 'wx' }).catch((error: unknown) => {
        throw invalidArgument('--out', errorText(error));
      });
      return { ...shown({ statement, out, bytes: document.length }), subject: statement };
    },
  });

export const moneyCommands = [
  command({
    name: 'topup',
    about: 'Books a paid top-up, which fixes the price per part for good and makes a test account live.',
    options: {
      account,
      grosze: required('--pln <N>', 'net amount in PLN, at least 50', pln),
      reference: optional('--reference <TEXT>', 'the payment’s name: one of this name is booked once', note),
    },
    async ask(asking, input) {
      const { account, booked } = await topUp({ ...asking, input });
      const { id, balanceGrosze, pricePerPartGrosze, mode } = account;
      return shown(
        { accountId: id, amountGrosze: input.grosze, balanceGrosze, pricePerPartGrosze, mode },
        booked ? null : 'This payment was booked before: nothing was changed.',
      );
    },
  }),
  command({
    name: 'adjust',
    about: 'Corrects a balance by a ledger entry.',
    options: {
      account,
      grosze: required('--grosze <N>', 'net amount in grosze, negative to take away', signedGrosze),
      note: required('--note <TEXT>', 'the reason, which the account reads in its ledger', note),
    },
    async ask(asking, input) {
      const { balanceGrosze } = await adjustBalance({ ...asking, input });
      return shown({ accountId: input.account, amountGrosze: input.grosze, balanceGrosze });
    },
  }),
  command({
    name: 'payments list',
    about: 'Lists payments by the processor, newest first, and what went back of each.',
    options: { account: onlyAccount, limit: limit(50) },
    run: async (sql, { account = null, limit }) =>
      shown({ data: await paymentsOf(sql, { account, before: null, limit }) }),
  }),
  command({
    name: 'payments show',
    about: 'Shows a payment with its refunds and disputes; its workflow in the Temporal UI has its id.',
    options: { payment },
    async run(sql, { payment: id }) {
      const found = await readPaymentRow(sql, id);
      if (found === undefined) throw new StaffRefused({ reason: 'payment_missing', payment: id });
      return shown({ ...found, reversals: await reversalsOf(sql, id) });
    },
  }),
  command({
    name: 'payments refund',
    about: 'Has the processor give a payment back, whole or in part; its ledger entry follows in seconds.',
    options: {
      payment,
      grosze: optional('--pln <N>', 'gross amount in PLN; default: what is left of the payment', pln),
    },
    async before(sql, input) {
      const { payment, left, refundGrosze } = await refundable(sql, input);
      const { id, accountId, grossGrosze } = payment;
      return shown({ payment: id, accountId, grossGrosze, leftGrosze: left, refundGrosze });
    },
    ask: async (asking, input) =>
      shown(await refundPayment({ ...asking, input }), 'The processor has taken the refund.'),
  }),
  command({
    name: 'ledger',
    about: 'Shows the latest ledger entries, newest first, and whether their sum is the balance.',
    options: { account, limit: limit(50) },
    async run(sql, { account, limit }) {
      const state = await readLedgerState(sql, account);
      return shown(
        { accountId: account, ...state, entries: await listLedger(sql, account, limit) },
        state?.agrees === false ? DIFFER : null,
      );
    },
  }),
  command({
    name: 'statements issue',
    about: 'Issues the statement of a postpaid account for a month that is over; it is e-mailed.',
    options: {
      account,
      month: optional('--month <YYYY-MM>', 'in Polish time; default: the last that can be issued', month),
      due: optional('--due <TIME>', 'default: in 14 days; unpaid by then, sends are refused', due),
    },
    ask: async (asking, input) =>
      shown(
        await issueStatement({ ...asking, input }),
        'A worker makes its PDF and CSV in the morning, or when the schedule `statements` is triggered.',
      ),
  }),
  command({
    name: 'statements pay',
    about: 'Marks a statement as paid and books the payment, once.',
    options: { statement: required('<STATEMENT_ID>', 'the statement', statementId) },
    async ask(asking, input) {
      const { statement, balanceGrosze } = await payStatement({ ...asking, input });
      return shown({ ...statement, balanceGrosze });
    },
  }),
  command({
    name: 'statements send',
    about:
      "Has a statement e-mailed to the account's contact address again; one that waits is tried at once.",
    options: { statement: required('--statement <STATEMENT_ID>', 'the statement', statementId) },
    async ask(asking, input) {
      const statement = await sendStatement({ ...asking, input });
      return shown(statement, 'A worker with OWN_EMAIL_ACCOUNT e-mails it in seconds; see statements list.');
    },
  }),
  command({
    name: 'statements list',
    about: 'Lists the statements of an account, the latest month first, and what became of their e-mails.',
    options: { account },
    run: async (sql, { account }) => shown({ data: await listStatements(sql, account) }),
  }),
  ...DOCUMENT_FORMATS.map(documentCommand),
];
