import type { Sql } from '../../db/connection.ts';
import { book, listLedger, readLedgerState } from '../../db/money/ledger.ts';
import { updateAccount } from '../../db/accounts/operators.ts';
import { command, optional, required, type Outcome } from './command.ts';
import { findAccount, holdAccount, requireOpen } from './lookup.ts';
import { invalidArgument } from './problems.ts';
import { accountId, note, pln, rows, signedGrosze } from './values.ts';

const DEFAULT_ROWS = 50;
const account = required('ID', 'the account', accountId);

const topup = command({
  name: 'topup',
  about: 'Books a paid top-up, which fixes the price per part for good and makes a test account live.',
  options: { account, pln: required('N', 'net amount in PLN, at least 50', pln) },
  async run(sql, values): Promise<Outcome> {
    const { rateAfterTopUp } = await import('../../domain/price.ts');
    // Held before the price is read: of two top-ups at once the second sees what the first has fixed.
    const before = await holdAccount(sql, values.account);
    requireOpen(before);
    const rate = rateAfterTopUp(before.price_per_part_grosze, values.pln);
    if (rate === null) throw invalidArgument('--pln', 'a top-up is at least 50 PLN net');
    await book(sql, { account: before.id, kind: 'topup', grosze: values.pln });
    await updateAccount(sql, before.id, { price_per_part_grosze: rate, mode: 'live' });
    const after = await findAccount(sql, before.id);
    return {
      result: {
        account_id: after.id,
        amount_grosze: values.pln,
        balance_grosze: after.balance_grosze,
        price_per_part_grosze: after.price_per_part_grosze,
        mode: after.mode,
      },
      account: after.id,
      details: {
        amount_grosze: values.pln,
        price_per_part_grosze: { from: before.price_per_part_grosze, to: rate },
        mode: { from: before.mode, to: after.mode },
      },
    };
  },
});

const adjust = command({
  name: 'adjust',
  about: 'Corrects a balance by a ledger entry.',
  options: {
    account,
    grosze: required('N', 'net amount in grosze, negative to take away', signedGrosze),
    note: required('TEXT', 'the reason, kept in the ledger', note),
  },
  async run(sql, values): Promise<Outcome> {
    const { id } = await holdAccount(sql, values.account);
    await book(sql, { account: id, kind: 'adjustment', grosze: values.grosze, note: values.note });
    return {
      result: { account_id: id, amount_grosze: values.grosze, balance_grosze: await balance(sql, id) },
      account: id,
      details: { amount_grosze: values.grosze, note: values.note },
    };
  },
});

const ledger = command({
  name: 'ledger',
  about: 'Shows the latest ledger entries, newest first, and whether their sum is the balance.',
  options: { account, limit: optional('N', `entries shown; default: ${DEFAULT_ROWS}`, rows) },
  async run(sql, values): Promise<Outcome> {
    const { id } = await findAccount(sql, values.account);
    const state = await readLedgerState(sql, id);
    const entries = await listLedger(sql, id, values.limit ?? DEFAULT_ROWS);
    return { result: { account_id: id, ...state, entries }, account: id };
  },
});

export const moneyCommands = [topup, adjust, ledger];

async function balance(sql: Sql, id: string): Promise<number> {
  return (await findAccount(sql, id)).balance_grosze;
}
