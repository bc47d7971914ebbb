import { listVerifiedNumbers } from '../../db/accounts/staff.ts';
import { byColumnName } from '../../db/columnNames.ts';
import { findAccount } from '../../operations/accounts/find.ts';
import { command, required, type Outcome, type Shown } from './command.ts';
import { readNumber } from './msisdn.ts';
import { accountId, text } from './values.ts';

const account = required('ID', 'the account', accountId);
const msisdn = required('NUMBER', 'E.164 with or without plus, or 9 digits (Polish)', text);

const verify = command({
  name: 'numbers verify',
  about: 'Notes a number as verified: a test account sends to these only, at most 2.',
  options: { account, msisdn },
  async ask(asking, values): Promise<Shown> {
    const number = await readNumber('--msisdn', values.msisdn);
    const { verifyNumber } = await import('../../operations/accounts/verifiedNumbers.ts');
    await verifyNumber({ ...asking, input: { account: values.account, msisdn: number } });
    return { result: { account_id: values.account, msisdn: number } };
  },
});

const remove = command({
  name: 'numbers remove',
  about: 'Forgets a verified number.',
  options: { account, msisdn },
  async ask(asking, values): Promise<Shown> {
    const number = await readNumber('--msisdn', values.msisdn);
    const { forgetVerifiedNumber } = await import('../../operations/accounts/verifiedNumbers.ts');
    await forgetVerifiedNumber({ ...asking, input: { account: values.account, msisdn: number } });
    return { result: { account_id: values.account, msisdn: number, removed: true } };
  },
});

const list = command({
  name: 'numbers list',
  about: 'Lists the verified numbers of an account.',
  options: { account },
  async run(sql, values): Promise<Outcome> {
    const { id } = await findAccount(sql, values.account);
    return { result: { data: (await listVerifiedNumbers(sql, id)).map(byColumnName) }, account: id };
  },
});

export const numberCommands = [verify, remove, list];
