import * as stored from '../db/incoming/blacklist.ts';
import { numberProblem, parseMsisdn } from '../domain/msisdn.ts';
import { Refused } from '../domain/refusals.ts';
import type { OperationContext } from './context.ts';
import { withinQuota } from './quotas.ts';

interface BlacklistAddition {
  /** A number or a list, in any of the three accepted formats; the shape decides whether errors name `msisdn` or `msisdns`. */
  numbers: string | readonly string[];
  reason: string;
  expires_at: number | null;
}

/**
 * Blacklists numbers (v2.3.0, Blacklist and opt-out). Existing entries get the new reason and expiry; invalid numbers are skipped.
 * @returns how many distinct valid numbers there are, including those already listed, and the invalid ones
 * @throws Refused for an expiry in the past and above the account's quota; nothing is listed then
 */
export async function extendBlacklist({
  services: { sql },
  caller: { accountId },
  input: { numbers, reason, expires_at: expiresAt },
  receivedAt,
}: OperationContext<BlacklistAddition>) {
  if (expiresAt !== null && expiresAt <= receivedAt) {
    throw new Refused({ reason: 'instant_past', field: 'expires_at' }, 'expires_at');
  }
  const given = typeof numbers === 'string' ? [numbers] : numbers;
  const parsed = given.map(parseMsisdn);
  const msisdns = [...new Set(parsed.filter((number) => number !== null))];
  const adding = stored.extendBlacklist(sql, accountId, msisdns, reason, expiresAt);
  await withinQuota({ blacklist: typeof numbers === 'string' ? 'msisdn' : 'msisdns' }, adding);
  return { added: msisdns.length, invalid: given.filter((_, i) => parsed[i] === null) };
}

/** Takes a number off the blacklist. @returns the number in E.164 @throws Refused for an invalid number or one without an active entry */
export async function shortenBlacklist({
  services: { sql },
  caller: { accountId },
  input: { msisdn },
}: OperationContext<{ msisdn: string }>): Promise<string> {
  const number = parseMsisdn(msisdn);
  if (number === null) throw new Refused({ field: 'msisdn', ...numberProblem(msisdn) }, 'msisdn');
  const removed = await stored.removeFromBlacklist(sql, accountId, number);
  if (!removed) throw new Refused({ reason: 'number_not_listed' });
  return number;
}
