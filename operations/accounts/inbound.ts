import { setInboundNumber } from '../../db/incoming/inbound.ts';
import { maskMsisdn } from '../../domain/msisdn.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { recorded } from '../staff.ts';
import { holdAccount, holdOpenAccount } from './accounts.ts';
import {
  releaseKeyword as endRest,
  allowKeyword as storeConsent,
  takeKeywordAway,
  revokeKeyword as withdrawConsent,
} from '../../db/accounts/keywords.ts';
import { guardOf } from '../../domain/keywords.ts';

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

interface Input {
  account: string;
  /** In capitals. */
  word: string;
}

/**
 * Lets an account claim an everyday word as its keyword: replies of others' recipients that begin with it are its own then.
 * @throws StaffRefused also for words that unsubscribe, and those that need no consent
 */
export const allowKeyword = recorded('inbound allow-keyword', async (sql, { account, word }: Input) => {
  await holdOpenAccount(sql, account);
  const guard = guardOf(word);
  if (guard === 'opt_out') throw new StaffRefused({ reason: 'keyword_unsubscribes', word });
  if (guard === null) throw new StaffRefused({ reason: 'keyword_needs_no_consent', word });
  const isNew = await storeConsent(sql, account, word);
  return { data: undefined, account, subject: word, details: { was_allowed: !isNew } };
});

/**
 * Withdraws the consent to an everyday word, and takes the keyword itself away from an account that has it; it rests then.
 * @throws StaffRefused where the account has neither
 */
export const revokeKeyword = recorded('inbound revoke-keyword', async (sql, { account, word }: Input) => {
  await holdAccount(sql, account);
  const revoked = await withdrawConsent(sql, account, word);
  const takenAway = await takeKeywordAway(sql, account, word);
  if (!revoked && !takenAway) throw new StaffRefused({ reason: 'keyword_not_held', account, word });
  const details = { was_allowed: revoked, taken_away: takenAway };
  return { data: { takenAway }, account, subject: word, details };
});

/**
 * Ends the rest of a keyword that was given up less than 30 days ago: any account may claim it.
 * @throws StaffRefused keyword_not_resting
 */
export const releaseKeyword = recorded('inbound release-keyword', async (sql, { word }: { word: string }) => {
  const former = await endRest(sql, word);
  if (former === null) throw new StaffRefused({ reason: 'keyword_not_resting', word });
  return { data: { formerAccount: former }, account: former, subject: word };
});
