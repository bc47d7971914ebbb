import type { AccountRow } from '../../db/accounts/accounts.ts';
import { Refused } from '../../domain/refusals.ts';

/** @throws Refused for an account that is suspended or closed (v2.3.0, Account status) */
export function refuseInactive(status: AccountRow['status']): void {
  if (status === 'suspended') throw new Refused({ reason: 'account_suspended' });
  if (status === 'closed') throw new Refused({ reason: 'account_closed' });
}
