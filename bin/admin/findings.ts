import { byColumnName } from '../../db/columnNames.ts';
import { listFindings } from '../../db/maintenance/findings.ts';
import { findAccount } from '../../operations/accounts/find.ts';
import { dismissFinding } from '../../operations/support/findings.ts';
import { command, optional, required, type Outcome, type Shown } from './command.ts';
import { accountId, oneOf, rows, wholeNumber } from './values.ts';

const DEFAULT_ROWS = 50;

const list = command({
  name: 'findings list',
  about: 'Lists what the reconciliation found, the latest first: what is open needs a person.',
  options: {
    state: optional(
      'STATE',
      'open, repaired, gone or all; default: open',
      oneOf('open', 'repaired', 'gone', 'all'),
    ),
    account: optional('ID', 'only of this account', accountId),
    limit: optional('N', `findings shown; default: ${DEFAULT_ROWS}`, rows),
  },
  async run(sql, values): Promise<Outcome> {
    if (values.account !== undefined) await findAccount(sql, values.account);
    const { state = 'open', account = null, limit = DEFAULT_ROWS } = values;
    const data = await listFindings(sql, { account, state: state === 'all' ? null : state }, limit);
    return { result: { data: data.map(byColumnName) }, ...(account === null ? {} : { account }) };
  },
});

const dismiss = command({
  name: 'findings dismiss',
  about: 'Says that a finding is dealt with; what was repaired too often may be repaired again.',
  options: { id: required('N', 'the finding, from findings list', wholeNumber(1, 1_000_000_000, '')) },
  async ask(asking, input): Promise<Shown> {
    return { result: byColumnName(await dismissFinding({ ...asking, input })) };
  },
});

export const findingCommands = [list, dismiss];
