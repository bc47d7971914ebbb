import { setInboundNumber } from '../../db/incoming/inbound.ts';
import { maskMsisdn } from '../../domain/msisdn.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { recorded } from '../staff.ts';
import { holdAccount, holdOpenAccount } from './find.ts';

interface EnableInput {
  account: string;
  /** The receiving number, E.164. */
  msisdn: string;
}

/**
 * Lets an account receive replies on a number; several accounts may share one.
 * @returns the account's keyword
 * @throws StaffRefused
 */
export const enableInbound = recorded('inbound enable', async (sql, { account, msisdn }: EnableInput) => {
  const before = await holdOpenAccount(sql, account);
  await setInboundNumber(sql, account, msisdn);
  return {
    data: { keyword: before.inboundPrefix },
    account,
    subject: maskMsisdn(msisdn),
    details: { from: before.inboundNumber === null ? null : maskMsisdn(before.inboundNumber) },
  };
});

/** Ends the receiving of replies; the keyword stays the account's. @throws StaffRefused */
export const disableInbound = recorded('inbound disable', async (sql, { account }: { account: string }) => {
  const { inboundNumber: number } = await holdAccount(sql, account);
  if (number === null) throw new StaffRefused({ reason: 'inbound_disabled', account });
  await setInboundNumber(sql, account, null);
  return { data: undefined, account, subject: maskMsisdn(number) };
});
