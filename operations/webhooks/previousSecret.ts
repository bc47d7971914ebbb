import { endSecretBefore } from '../../db/webhooks/webhookSecrets.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { findAccount } from '../accounts/find.ts';
import { recorded } from '../staff.ts';

/**
 * Ends the secret that the last rotation replaced at once, instead of after a day.
 * @throws StaffRefused where there is none in force
 */
export const endPreviousSecret = recorded(
  'webhooks end-previous-secret',
  async (sql, { account }: { account: string }) => {
    await findAccount(sql, account);
    if (!(await endSecretBefore(sql, account))) {
      throw new StaffRefused({ reason: 'previous_secret_missing', account });
    }
    return { data: undefined, account };
  },
);
