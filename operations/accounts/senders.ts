import {
  activateSender,
  deactivateSender,
  deleteVerifiedNumber,
  insertVerifiedNumber,
  listVerifiedNumbers,
} from '../../db/accounts/staff.ts';
import type { Sql } from '../../db/connection.ts';
import type { PersonActor, StaffActor } from '../../domain/actor.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { recorded } from '../staff.ts';
import { findAccountForUpdate } from './accounts.ts';
import { maskMsisdn } from '../../domain/msisdn.ts';

interface SenderInput {
  account: string;
  name: string;
}

/** Adds or reactivates a sender. @throws StaffRefused */
export const addSender = recorded('senders add', async (sql, { account, name }: SenderInput) => {
  await activate(sql, { account, name });
  return { data: undefined, account, subject: name };
});

export async function activate(sql: Sql, { account, name }: SenderInput): Promise<void> {
  await findAccountForUpdate(sql, account);
  await activateSender(sql, account, name);
}

/** Deactivates a sender, which also clears it as the default. @throws StaffRefused */
export const removeSender = recorded('senders remove', async (sql, { account, name }: SenderInput) => {
  const { senderName: standard } = await findAccountForUpdate(sql, account);
  if (!(await deactivateSender(sql, account, name))) {
    throw new StaffRefused({ reason: 'sender_missing', account });
  }
  return { data: undefined, account, subject: name, details: { was_default: standard === name } };
});

/** Own numbers of an account (v2.3.0, Authentication, 8). */
export const MAX_VERIFIED = 2;

interface NumberInput {
  account: string;
  msisdn: string;
}

/** Adds a verified number: a test account sends only to these. Locks the account. @throws StaffRefused if it already has two others */
export async function addVerifiedNumber(tx: Sql, { account, msisdn }: NumberInput): Promise<void> {
  await findAccountForUpdate(tx, account);
  const verified = await listVerifiedNumbers(tx, account);
  const known = verified.some((row) => row.msisdn === msisdn);
  if (!known && verified.length >= MAX_VERIFIED) {
    throw new StaffRefused({ reason: 'verified_numbers_used_up', account, limit: MAX_VERIFIED });
  }
  await insertVerifiedNumber(tx, account, msisdn);
}

/** Adds a verified number that staff vouch for. @throws StaffRefused */
export const verifyNumber = recorded('numbers verify', async (sql, input: NumberInput) => {
  await addVerifiedNumber(sql, input);
  return { data: undefined, account: input.account, subject: maskMsisdn(input.msisdn) };
});

/** Removes a verified number; people, of their own account. @throws StaffRefused */
export const forgetVerifiedNumber = recorded(
  'numbers remove',
  async (sql, { account, msisdn }: NumberInput, { actor }: { actor: StaffActor | PersonActor }) => {
    if (actor.kind === 'person' && actor.accountId !== account)
      throw new StaffRefused({ reason: 'account_missing', account });
    await findAccountForUpdate(sql, account);
    if (!(await deleteVerifiedNumber(sql, account, msisdn))) {
      throw new StaffRefused({ reason: 'number_not_verified', account });
    }
    return { data: undefined, account, subject: maskMsisdn(msisdn) };
  },
);
