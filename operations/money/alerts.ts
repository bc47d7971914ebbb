import { readRecipients } from '../../db/emails/ownEmails.ts';
import { readLowBalance, setLowBalance } from '../../db/money/balanceAlerts.ts';
import { setAlerted } from '../../db/people/members.ts';
import { PAYERS } from '../../domain/actor.ts';
import { Refused, StaffRefused } from '../../domain/refusals.ts';
import type { By } from '../accounts/keys.ts';
import { findOpenAccountForUpdate } from '../accounts/accounts.ts';
import { recorded } from '../staff.ts';

const ADDRESSES_MAX = 5;

interface AlertSettings {
  account: string;
  /** Grosze net; null: no alert. */
  lowBalance: number | null;
  /** Who gets e-mails about money. Of others nothing is stored: only people who have proved an address get any. */
  people: readonly string[];
}

/** Sets who is told about the account's money, and below what. @throws Refused, StaffRefused */
export const changeAlerts = recorded(
  'alerts',
  async (sql, { account, lowBalance, people }: AlertSettings, { actor }: By) => {
    if (actor.kind === 'person' && !PAYERS.includes(actor.role))
      throw new StaffRefused({ reason: 'account_missing', account });
    await findOpenAccountForUpdate(sql, account);
    const before = await readLowBalance(sql, account);
    await setLowBalance(sql, account, lowBalance);
    await setAlerted(sql, account, people);
    if ((await readRecipients(sql, account)).length > ADDRESSES_MAX)
      throw new Refused({ reason: 'alert_addresses_too_many', limit: ADDRESSES_MAX }, 'people');
    const details = { low_balance_grosze: { from: before, to: lowBalance }, people: [...people] };
    return { data: null, account, details };
  },
);
