import { deleteVerifiedNumber, insertVerifiedNumber, listVerifiedNumbers } from '../../db/accounts/staff.ts';
import { maskMsisdn } from '../../domain/msisdn.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { recorded } from '../staff.ts';
import { holdAccount } from './find.ts';

/** Numbers that a test account may send to (v2.3.0, Authentication, 8). */
const MAX_VERIFIED = 2;

interface Input {
  account: string;
  /** E.164. */
  msisdn: string;
}

/** Notes a number as verified: a test account sends to these only. @throws StaffRefused where it has two others */
export const verifyNumber = recorded('numbers verify', async (sql, { account, msisdn }: Input) => {
  await holdAccount(sql, account);
  const verified = await listVerifiedNumbers(sql, account);
  const known = verified.some((row) => row.msisdn === msisdn);
  if (!known && verified.length >= MAX_VERIFIED) {
    throw new StaffRefused({ reason: 'verified_numbers_used_up', account, limit: MAX_VERIFIED });
  }
  await insertVerifiedNumber(sql, account, msisdn);
  return { data: undefined, account, subject: maskMsisdn(msisdn) };
});

/** Forgets a verified number. @throws StaffRefused */
export const forgetVerifiedNumber = recorded('numbers remove', async (sql, { account, msisdn }: Input) => {
  await holdAccount(sql, account);
  if (!(await deleteVerifiedNumber(sql, account, msisdn))) {
    throw new StaffRefused({ reason: 'number_not_verified', account });
  }
  return { data: undefined, account, subject: maskMsisdn(msisdn) };
});
