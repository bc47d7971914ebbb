import { ChangesTooManyError } from '../db/accounts/audit.ts';
import { Refused } from '../domain/refusals.ts';

/** Why an account may change nothing more for now; null for any other error. */
export function changesRefusal(error: unknown): Refused | null {
  if (!(error instanceof ChangesTooManyError)) return null;
  return new Refused({ reason: 'changes_too_many', limit: error.limit, seconds: error.seconds });
}
