import {
  deleteVerifiedNumber,
  insertVerifiedNumber,
  listVerifiedNumbers,
} from '../../db/accounts/operators.ts';
import { command, required, type Outcome } from './command.ts';
import { findAccount, holdAccount } from './lookup.ts';
import { readNumber } from './msisdn.ts';
import { notFound, refused } from './problems.ts';
import { accountId, text } from './values.ts';

/** Numbers that a test account may send to (v2.3.0, Authentication, 8). */
const MAX_VERIFIED = 2;

const account = required('ID', 'the account', accountId);
const msisdn = required('NUMBER', 'E.164 with or without plus, or 9 digits (Polish)', text);

const verify = command({
  name: 'numbers verify',
  about: 'Notes a number as verified: a test account sends to these only, at most 2.',
  options: { account, msisdn },
  async run(sql, values): Promise<Outcome> {
    const { number, masked } = await readNumber('--msisdn', values.msisdn);
    const { id } = await holdAccount(sql, values.account);
    const verified = await listVerifiedNumbers(sql, id);
    const known = verified.some((row) => row.msisdn === number);
    if (!known && verified.length >= MAX_VERIFIED) {
      throw refused(`The account ${id} has ${MAX_VERIFIED} verified numbers already; remove one first.`);
    }
    await insertVerifiedNumber(sql, id, number);
    return { result: { account_id: id, msisdn: number }, account: id, subject: masked };
  },
});

const remove = command({
  name: 'numbers remove',
  about: 'Forgets a verified number.',
  options: { account, msisdn },
  async run(sql, values): Promise<Outcome> {
    const { number, masked } = await readNumber('--msisdn', values.msisdn);
    const { id } = await holdAccount(sql, values.account);
    if (!(await deleteVerifiedNumber(sql, id, number))) {
      throw notFound(`This number is not verified for the account ${id}.`);
    }
    return { result: { account_id: id, msisdn: number, removed: true }, account: id, subject: masked };
  },
});

const list = command({
  name: 'numbers list',
  about: 'Lists the verified numbers of an account.',
  options: { account },
  async run(sql, values): Promise<Outcome> {
    const { id } = await findAccount(sql, values.account);
    return { result: { data: await listVerifiedNumbers(sql, id) }, account: id };
  },
});

export const numberCommands = [verify, remove, list];
