import { refuseBeyond, readUsage } from '../../db/accounts/quotas.ts';
import type { Database, Sql } from '../../db/connection.ts';
import { changeAddressBook } from '../../db/contacts/addressBook.ts';
import { readNamed, writeContacts } from '../../db/contacts/contactChanges.ts';
import { newId } from '../../db/ids.ts';
import { type ContactPlan, type NumberedChange, planContacts } from '../../domain/contactPlan.ts';
import { withinQuota } from '../quotas.ts';

// What of a contact adds to each quota.
const BLAMED = {
  contacts: 'msisdn',
  groups: 'groups',
  memberships: 'groups',
  contact_bytes: 'fields',
} as const;

/** As {@link changeAddressBook}, for changes of contacts. @throws Refused where the account would keep more than it may */
export async function changeBook<T>(
  sql: Database,
  accountId: string,
  work: (tx: Sql) => Promise<T>,
): Promise<T> {
  return await withinQuota(BLAMED, changeAddressBook(sql, accountId, work));
}

const NEW_IDS = { contact: () => newId('ct'), group: () => newId('gr') };

/**
 * Creates and updates contacts by their numbers, within a change of the address book; what is refused is not written.
 * @throws QuotaReachedError where all of it together is more than the account may keep
 */
export async function applyChanges(
  tx: Sql,
  accountId: string,
  changes: readonly NumberedChange[],
): Promise<ContactPlan> {
  const usage = await readUsage(tx, accountId);
  const groupNames = [...new Set(changes.flatMap(({ change }) => change.groups ?? []))];
  const named = await readNamed(tx, accountId, changes, groupNames);
  const plan = planContacts({ ...named, ...usage }, changes, NEW_IDS);
  await writeContacts(tx, accountId, plan);
  await refuseBeyond(tx, accountId, usage);
  return plan;
}
