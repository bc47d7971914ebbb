import { activateSender, deactivateSender } from '../../db/accounts/staff.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { recorded } from '../staff.ts';
import { holdAccount } from './find.ts';

interface Input {
  account: string;
  name: string;
}

/** Adds an active sender to an account; one removed before becomes active again. @throws StaffRefused */
export const addSender = recorded('senders add', async (sql, { account, name }: Input) => {
  await holdAccount(sql, account);
  await activateSender(sql, account, name);
  return { data: undefined, account, subject: name };
});

/** Makes a sender inactive; the default sender is none then, if it was this one. @throws StaffRefused */
export const removeSender = recorded('senders remove', async (sql, { account, name }: Input) => {
  const { senderName: standard } = await holdAccount(sql, account);
  if (!(await deactivateSender(sql, account, name))) {
    throw new StaffRefused({ reason: 'sender_missing', account });
  }
  return { data: undefined, account, subject: name, details: { was_default: standard === name } };
});
