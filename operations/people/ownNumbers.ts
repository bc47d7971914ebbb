import { readAccount } from '../../db/accounts/accounts.ts';
import { listVerifiedNumbers } from '../../db/accounts/staff.ts';
import {
  type CodeLimit,
  lockOwnNumber,
  OwnCodeRefusedError,
  readOwnCode,
} from '../../db/verifications/ownNumbers.ts';
import type { PersonActor } from '../../domain/actor.ts';
import { isPolishMobile, maskMsisdn } from '../../domain/msisdn.ts';
import { Refused, StaffRefused } from '../../domain/refusals.ts';
import { CODE_LENGTH, type Locale, TTL } from '../../domain/verifications.ts';
import { findAccountForUpdate } from '../accounts/accounts.ts';
import { addVerifiedNumber, MAX_VERIFIED } from '../accounts/senders.ts';
import type { Caller, OperationContext } from '../context.ts';
import { recorded, type StaffServices } from '../staff.ts';
import { check, verify } from '../verify/verify.ts';

interface CodeRequest {
  /** E.164 with plus. */
  to: string;
  locale: Locale;
  /** Of the person, as made by `limitedNetwork`. */
  network: string;
}

interface Asking extends OperationContext<CodeRequest> {
  caller: Caller & { actor: PersonActor };
  services: OperationContext<CodeRequest>['services'] & {
    ownEmailAccount: string | null;
    settings: { NUMBER_CODES_A_DAY: number };
  };
}

/**
 * Sends a code to a number that a person wants to verify for the account. The installation's account sends and pays it, within limits that
 * make it worth nobody's while to have numbers called.
 * @returns `unavailable`: the installation cannot send it @throws StaffRefused where the account has its own numbers already
 */
export async function requestNumberCode(
  asking: Asking,
): Promise<'sent' | 'not_mobile' | 'unavailable' | CodeLimit> {
  const { services, caller, input } = asking;
  const { sql, ownEmailAccount: sender, settings, log } = services;
  const { to, locale, network } = input;
  if (!isPolishMobile(to)) return 'not_mobile';
  const { accountId, actor } = caller;
  if ((await listVerifiedNumbers(sql, accountId)).length >= MAX_VERIFIED)
    throw new StaffRefused({ reason: 'verified_numbers_used_up', account: accountId, limit: MAX_VERIFIED });
  if (sender === null || (await readAccount(sql, sender))?.status !== 'active') return 'unavailable';
  const own = { accountId, personId: actor.id, network, budget: settings.NUMBER_CODES_A_DAY };
  try {
    const code = { to, locale, ttl: TTL.standard, codeLength: CODE_LENGTH.standard, own };
    const by: Caller = { ...caller, accountId: sender, accountMode: 'live' };
    await verify({ ...asking, caller: by, input: code }, []);
    return 'sent';
  } catch (error) {
    if (error instanceof OwnCodeRefusedError) return error.limit;
    if (!(error instanceof Refused)) throw error;
    const { refusal } = error;
    if (refusal.reason === 'codes_too_many') return { limited: 'number', seconds: refusal.seconds };
    // Of the installation's account, which is none of the customer's business: no credit, no route.
    log.error({ reason: refusal.reason }, 'a code to an own number is refused');
    return 'unavailable';
  }
}

interface Guess {
  /** Of the verification. */
  id: string;
  code: string;
}

/** What a guess has come to: `elsewhere`, verified in too many accounts; guesses that are left, none also where the code is over. */
export type Guessed = 'verified' | 'elsewhere' | { left: number };

/**
 * Checks the code of a number, as one of five guesses; the right one verifies the number for the account.
 * @throws Refused for a verification that this person did not ask for, StaffRefused
 */
export const confirmNumber = recorded(
  'numbers verify',
  async (tx, { id, code }: Guess, { services, actor }: { services: StaffServices; actor: PersonActor }) => {
    const { accountId: account } = actor;
    // First, as everywhere: before the verification.
    await findAccountForUpdate(tx, account);
    const asked = await readOwnCode(tx, actor, id);
    if (asked === undefined) throw new Refused({ reason: 'verification_unknown' });
    const done = (data: Guessed) => ({ data, account, subject: maskMsisdn(asked.msisdn) });
    if (asked.approvedAt !== null) {
      // Sent twice; a number that was removed since needs a code of its own.
      const isVerified = (await listVerifiedNumbers(tx, account)).some(
        ({ msisdn }) => msisdn === asked.msisdn,
      );
      return { ...done(isVerified ? 'verified' : { left: 0 }), records: [] };
    }
    if (!(await lockOwnNumber(tx, account, asked.msisdn))) return { ...done('elsewhere'), records: [] };
    const { status, attempts_left } = await check({
      services: { sql: tx, secretsKey: await services.secretsKey() },
      caller: { accountId: asked.sender },
      input: { id, code },
    });
    if (status !== 'approved')
      return { ...done({ left: status === 'pending' ? attempts_left : 0 }), records: [] };
    await addVerifiedNumber(tx, { account, msisdn: asked.msisdn });
    return done('verified');
  },
);
