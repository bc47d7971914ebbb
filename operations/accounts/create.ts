import { type AccountPatch, insertAccount, type AccountDetails } from '../../db/accounts/staff.ts';
import { byColumnName } from '../../db/columnNames.ts';
import type { Sql } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { book } from '../../db/money/ledger.ts';
import { recorded } from '../staff.ts';
import { loggable, withContactEmail } from './contactEmail.ts';
import { findAccount } from './find.ts';

/** Free messages of a new test account (v2.3.0, Authentication, 8). */
const FIRST_TEST_CREDITS = 25;

/** What a new account may be given; everything else has the schema's defaults. */
export interface NewAccount {
  id: string;
  settings: AccountPatch & { name: string; mode: 'test' | 'live' };
  /** Grosze net, booked as the opening entry. */
  balance: number;
}

/**
 * Writes an account with its opening entry: the balance given and, in test mode, 25 test credits. An account that
 * starts with nothing has no opening entry.
 */
export async function openAccount(sql: Sql, { id, settings, balance }: NewAccount): Promise<void> {
  await insertAccount(sql, id, settings);
  const testCredits = settings.mode === 'test' ? FIRST_TEST_CREDITS : 0;
  if (balance !== 0 || testCredits !== 0) {
    await book(sql, { account: id, kind: 'opening', grosze: balance, testCredits });
  }
}

interface Input {
  /** A test account unless it says otherwise. */
  settings: AccountPatch & { name: string };
  /** Grosze net. */
  balance: number;
}

/** Makes an account. @throws Refused for a contact address that is none */
export const createAccount = recorded('accounts create', async (sql, { settings: given, balance }: Input) => {
  const settings = withContactEmail({ ...given, mode: given.mode ?? 'test' });
  const id = newId('cl');
  await openAccount(sql, { id, settings, balance });
  const data: AccountDetails = await findAccount(sql, id);
  const logged = Object.entries(settings).map(([name, value]) => [name, loggable(name, value)]);
  const details = { settings: byColumnName(Object.fromEntries(logged) as object), balance_grosze: balance };
  return { data, account: id, details };
});
