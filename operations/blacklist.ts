import * as stored from '../db/incoming/blacklist.ts';
import { numberProblem, parseMsisdn } from '../domain/msisdn.ts';
import { Refused } from '../domain/refusals.ts';
import type { OperationContext } from './context.ts';
import { withinQuota } from './quotas.ts';

/** What is to be listed. */
export interface BlacklistAddition {
  /** One number or a list of them, in one of the three formats: which of the two it was says what is to blame, `msisdn` or `msisdns`. */
  numbers: string | readonly string[];
  reason: string;
  /** Epoch milliseconds; null: no end. */
  expires_at: number | null;
}

/** What was listed. */
export interface Blacklisted {
  /** Distinct numbers that are listed now, new or not. */
  added: number;
  /** What is no number, as given. */
  invalid: string[];
}

/**
 * Puts numbers on the blacklist (v2.3.0, Blacklist and opt-out): entries that are there get the new reason and end; what is no
 * number does not stop the others.
 * @throws Refused for an end that has gone by, and beyond the account's quota; nothing is listed then
 */
export async function extendBlacklist({
  services: { sql },
  caller: { accountId },
  input: { numbers, reason, expires_at: expiresAt },
  receivedAt,
}: OperationContext<BlacklistAddition>): Promise<Blacklisted> {
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

/**
 * Takes a number, in one of the three formats, off the blacklist.
 * @returns it in E.164
 * @throws Refused where it is none, and where no entry of it is in force
 */
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
