import { readUsage, refuseBeyond } from '../accounts/quotas.ts';
import { changeAddressBook } from './addressBook.ts';
import { CONTACT_GROUPS_MAX } from '../../domain/contacts.ts';
import type { Database, Sql } from '../connection.ts';
import { newId } from '../ids.ts';

/** Contacts would be in more groups than a contact may be in. Nobody is added. */
export class ContactGroupsTooManyError extends Error {
  override readonly name = 'ContactGroupsTooManyError';
  /** Those contacts, each once. */
  readonly contacts: readonly { id: string; msisdn: string }[];

  constructor(contacts: readonly { id: string; msisdn: string }[]) {
    super(`contacts that would be in more than ${CONTACT_GROUPS_MAX} groups: ${contacts.length}`);
    this.contacts = contacts;
  }
}

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
 * @throws ContactGroupsTooManyError, QuotaReachedError
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
    const added = await tx<{ contactId: string }[]>`
      insert into group_members (account_id, group_id, contact_id)
      select account_id, ${groupId}, id from contacts
       where account_id = ${accountId} and id = any(${contactIds as string[]}::text[])
       union
      select account_id, ${groupId}, id from contacts
       where account_id = ${accountId} and msisdn = any(${msisdns as string[]}::text[])
      on conflict do nothing
      returning contact_id`;
    const newMembers = added.map(({ contactId }) => contactId);
    await refuseInTooMany(tx, accountId, newMembers);
    await refuseBeyond(tx, accountId, before);
    const [counted] = await tx<{ members: number }[]>`
      select count(*) as members from group_members where account_id = ${accountId} and group_id = ${groupId}`;
    return { added: added.length, members: counted!.members, known: new Set(known.map(({ id }) => id)) };
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

/** Of each contact no more memberships are read than it may have, and one. */
async function refuseInTooMany(tx: Sql, accountId: string, contactIds: readonly string[]): Promise<void> {
  const beyond = await tx<{ id: string; msisdn: string }[]>`
    select c.id, c.msisdn from contacts c
     where c.account_id = ${accountId} and c.id = any(${contactIds as string[]}::text[])
       and exists (
             select from group_members m
              where m.account_id = c.account_id and m.contact_id = c.id
             offset ${CONTACT_GROUPS_MAX})`;
  if (beyond.length > 0) throw new ContactGroupsTooManyError(beyond);
}

async function createNameless(tx: Sql, accountId: string, msisdns: readonly string[]): Promise<void> {
  if (msisdns.length === 0) return;
  await tx`
    insert into contacts (account_id, id, msisdn)
    select ${accountId}, c.id, c.msisdn
      from unnest(${msisdns.map(() => newId('ct'))}::text[], ${msisdns as string[]}::text[]) as c (id, msisdn)
    on conflict (account_id, msisdn) do nothing`;
}
