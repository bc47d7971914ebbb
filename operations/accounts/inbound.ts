import { setInboundNumber } from '../../db/incoming/inbound.ts';
import { maskMsisdn } from '../../domain/msisdn.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { recorded } from '../staff.ts';
import { findAccountForUpdate, findOpenAccountForUpdate } from './accounts.ts';
import {
  releaseKeyword as endRest,
  allowKeyword as storeConsent,
  type KnownKeyword,
  takeKeywordAway,
  revokeKeyword as withdrawConsent,
} from '../../db/accounts/keywords.ts';
import { restrictionOf } from '../../domain/keywords.ts';

/** Lets an account receive replies on a number, which accounts may share. @returns the account's keyword @throws StaffRefused */
export const enableInbound = recorded(
  'inbound enable',
  async (sql, { account, msisdn }: { account: string; msisdn: string }) => {
    const before = await findOpenAccountForUpdate(sql, account);
    await setInboundNumber(sql, account, msisdn);
    const from = before.inboundNumber === null ? null : maskMsisdn(before.inboundNumber);
    return {
      data: { keyword: before.inboundPrefix },
      account,
      subject: maskMsisdn(msisdn),
      details: { from },
    };
  },
);

/** Stops receiving replies; the account keeps its keyword. @throws StaffRefused */
export const disableInbound = recorded('inbound disable', async (sql, { account }: { account: string }) => {
  const { inboundNumber: number } = await findAccountForUpdate(sql, account);
  if (number === null) throw new StaffRefused({ reason: 'inbound_disabled', account });
  await setInboundNumber(sql, account, null);
  return { data: undefined, account, subject: maskMsisdn(number) };
});

/** An everyday word that an account has as its keyword though staff never consented. */
export function lacksConsent({ word, state, allowed }: KnownKeyword): boolean {
  return state === 'in use' && !allowed && restrictionOf(word) === 'everyday';
}

interface Input {
  account: string;
  word: string;
}

/** Lets an account claim an everyday word as its keyword. @throws StaffRefused also for opt-out words and words that need no approval */
export const allowKeyword = recorded('inbound allow-keyword', async (sql, { account, word }: Input) => {
  await findOpenAccountForUpdate(sql, account);
  const guard = restrictionOf(word);
  if (guard === 'opt_out') throw new StaffRefused({ reason: 'keyword_unsubscribes', word });
  if (guard === null) throw new StaffRefused({ reason: 'keyword_needs_no_consent', word });
  const isNew = await storeConsent(sql, account, word);
  return { data: undefined, account, subject: word, details: { was_allowed: !isNew } };
});

/** Revokes the approval of an everyday word and frees the keyword, after 30 days. @throws StaffRefused if the account has neither */
export const revokeKeyword = recorded('inbound revoke-keyword', async (sql, { account, word }: Input) => {
  await findAccountForUpdate(sql, account);
  const revoked = await withdrawConsent(sql, account, word);
  const takenAway = await takeKeywordAway(sql, account, word);
  if (!revoked && !takenAway) throw new StaffRefused({ reason: 'keyword_not_held', account, word });
  const details = { was_allowed: revoked, taken_away: takenAway };
  return { data: { takenAway }, account, subject: word, details };
});

/** Makes a keyword given up less than 30 days ago available to any account. @throws StaffRefused keyword_not_resting */
export const releaseKeyword = recorded('inbound release-keyword', async (sql, { word }: { word: string }) => {
  const former = await endRest(sql, word);
  if (former === null) throw new StaffRefused({ reason: 'keyword_not_resting', word });
  return { data: { formerAccount: former }, account: former, subject: word };
});
