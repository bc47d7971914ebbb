import { byColumnName } from '../../db/columnNames.ts';
import { type LedgerState, listLedger, readLedgerStates } from '../../db/money/ledger.ts';
import { findAccount } from '../../operations/accounts/find.ts';
import { adjustBalance } from '../../operations/money/adjust.ts';
import { command, optional, required, type Outcome, type Shown } from './command.ts';
import { accountId, note, pln, rows, signedGrosze } from './values.ts';

const DEFAULT_ROWS = 50;
const account = required('ID', 'the account', accountId);

const topup = command({
  name: 'topup',
  about: 'Books a paid top-up, which fixes the price per part for good and makes a test account live.',
  options: {
    account,
    pln: required('N', 'net amount in PLN, at least 50', pln),
    reference: optional(
      'TEXT',
      'the payment, as the bank names it: with the same one it is booked once',
      note,
    ),
  },
  async ask(asking, { pln: grosze, ...values }): Promise<Shown> {
    const { topUp } = await import('../../operations/money/topUp.ts');
    const { account, booked } = await topUp({ ...asking, input: { ...values, grosze } });
    return {
      result: {
        account_id: account.id,
        amount_grosze: grosze,
        balance_grosze: account.balanceGrosze,
        price_per_part_grosze: account.pricePerPartGrosze,
        mode: account.mode,
      },
      ...(booked ? {} : { remark: 'This payment was booked before: nothing was changed.' }),
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
  async ask(asking, input): Promise<Shown> {
    const { balanceGrosze } = await adjustBalance({ ...asking, input });
    return {
      result: { account_id: input.account, amount_grosze: input.grosze, balance_grosze: balanceGrosze },
    };
  },
});

const ledger = command({
  name: 'ledger',
  about: 'Shows the latest ledger entries, newest first, and whether their sum is the balance.',
  options: { account, limit: optional('N', `entries shown; default: ${DEFAULT_ROWS}`, rows) },
  async run(sql, values): Promise<Outcome> {
    const { id } = await findAccount(sql, values.account);
    const state = (await readLedgerStates(sql, [id])).get(id);
    const entries = await listLedger(sql, id, values.limit ?? DEFAULT_ROWS);
    return {
      result: { account_id: id, ...byColumnName(state ?? {}), entries: entries.map(byColumnName) },
      account: id,
      ...remarkOn(state),
    };
  },
});

/** The one thing that makes them differ without a fault of the ledger is a wrong note of the check that the sum began with. */
function remarkOn(state: LedgerState | undefined): { remark?: string } {
  if (state === undefined || state.agrees) return {};
  return {
    remark:
      'They differ since the last check. The reconciliation sums the whole ledger up again every 10 minutes, and says where that differs too: findings list.',
  };
}

export const moneyCommands = [topup, adjust, ledger];
