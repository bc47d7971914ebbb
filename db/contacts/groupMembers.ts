import { readUsage, refuseBeyond } from '../accounts/quotas.ts';
import { changeAddressBook } from './addressBook.ts';
import type { Database, Sql } from '../connection.ts';
import { newId } from '../ids.ts';

/** How a group has grown. */
export interface MembersAdded {
  /** New memberships; who was in the group before does not count. */
  added: number;
  /** All memberships now. */
  members: number;
  /** Which of the given ids are contacts of the account. */
  known: ReadonlySet<string>;
}

/**
 * Adds contacts to a group (v2.3.0, Groups): by id, what is no contact of the account skipped, whether it is another
 * account's or nobody's; and by number, unknown numbers becoming contacts without a name.
 *
 * @param msisdns in E.164 with plus
 * @returns null when the account has no group of this id
 * @throws QuotaReachedError
 */
export async function addMembers(
  sql: Database,
  accountId: string,
  groupId: string,
  contactIds: readonly string[],
  msisdns: readonly string[],
): Promise<MembersAdded | null> {
  return await changeAddressBook(sql, accountId, async (tx) => {
    const groups = await tx`select from contact_groups where account_id = ${accountId} and id = ${groupId}`;
    if (groups.count === 0) return null;
    const known = await tx<{ id: string }[]>`
      select id from contacts where account_id = ${accountId} and id = any(${contactIds as string[]}::text[])`;
    const before = await readUsage(tx, accountId);
    await createNameless(tx, accountId, msisdns);
    const { count: added } = await tx`
      insert into group_members (account_id, group_id, contact_id)
      select account_id, ${groupId}, id from contacts
       where account_id = ${accountId} and id = any(${contactIds as string[]}::text[])
       union
      select account_id, ${groupId}, id from contacts
       where account_id = ${accountId} and msisdn = any(${msisdns as string[]}::text[])
      on conflict do nothing`;
    await refuseBeyond(tx, accountId, before);
    const [counted] = await tx<{ members: number }[]>`
      select count(*) as members from group_members where account_id = ${accountId} and group_id = ${groupId}`;
    return { added, members: counted!.members, known: new Set(known.map(({ id }) => id)) };
  });
}

/** Takes a contact out of a group. @returns false when the group does not exist or the contact is not in it */
export async function removeMember(
  sql: Database,
  accountId: string,
  groupId: string,
  contactId: string,
): Promise<boolean> {
  return await changeAddressBook(sql, accountId, async (tx) => {
    const { count } = await tx`
      delete from group_members
       where account_id = ${accountId} and group_id = ${groupId} and contact_id = ${contactId}`;
    return count > 0;
  });
}

async function createNameless(tx: Sql, accountId: string, msisdns: readonly string[]): Promise<void> {
  if (msisdns.length === 0) return;
  await tx`
    insert into contacts (account_id, id, msisdn)
    select ${accountId}, c.id, c.msisdn
      from unnest(${msisdns.map(() => newId('ct'))}::text[], ${msisdns as string[]}::text[]) as c (id, msisdn)
    on conflict (account_id, msisdn) do nothing`;
}
