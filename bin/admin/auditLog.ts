import { listAudit } from '../../db/accounts/audit.ts';
import { byColumnName } from '../../db/columnNames.ts';
import { command, optional, type Outcome } from './command.ts';
import { findAccount } from '../../operations/accounts/find.ts';
import { accountId, rows } from './values.ts';

const DEFAULT_ROWS = 50;

const audit = command({
  name: 'audit',
  about: 'Shows what staff did, and what accounts changed through the API, newest first.',
  options: {
    account: optional('ID', 'only on this account', accountId),
    limit: optional('N', `records shown; default: ${DEFAULT_ROWS}`, rows),
  },
  async run(sql, values): Promise<Outcome> {
    if (values.account !== undefined) await findAccount(sql, values.account);
    const data = await listAudit(sql, values.account ?? null, values.limit ?? DEFAULT_ROWS);
    return {
      result: { data: data.map(byColumnName) },
      ...(values.account === undefined ? {} : { account: values.account }),
    };
  },
});

export const auditCommands = [audit];
