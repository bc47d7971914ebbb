import type { NamedGroup } from '../../domain/contactPlan.ts';
import { readUsage, enforceQuotas, withinQuotas } from '../accounts/quotas.ts';
import { changeAddressBook } from './contacts.ts';
import { type Database, hasSqlState, type Sql, SQLSTATE } from '../connection.ts';
import { newId } from '../ids.ts';
import { type NamePage, pageByName } from '../names.ts';
import { CONTACT_GROUPS_MAX } from '../../domain/contacts.ts';

export interface GroupRow {
  id: string;
  name: string;
  members: number;
  createdAt: Date;
}

export class GroupExistsError extends Error {
  override readonly name = 'GroupExistsError';
}

/** The account's groups by name, in Polish alphabetical order (v2.3.0, Groups). */
export async function listGroups(sql: Sql, accountId: string, page: NamePage = {}): Promise<GroupRow[]> {
  return await sql<GroupRow[]>`
    select ${columns(sql)} from contact_groups g ${pageByName(sql, 'contact_groups', accountId, page)}`;
}

export async function hasGroup(sql: Sql, accountId: string, id: string): Promise<boolean> {
  const found = await sql`select from contact_groups where account_id = ${accountId} and id = ${id}`;
  return found.count > 0;
}

export async function readGroup(sql: Sql, accountId: string, id: string): Promise<GroupRow | null> {
  const [group] = await sql<GroupRow[]>`
    select ${columns(sql)} from contact_groups g where g.account_id = ${accountId} and g.id = ${id}`;
  return group ?? null;
}

/** Creates a group. @throws GroupExistsError, QuotaReachedError */
export async function createGroup(sql: Database, accountId: string, name: string): Promise<GroupRow> {
  return await changeAddressBook(sql, accountId, async (tx) => {
    const group = (await findGroups(tx, accountId, [name])).get(name)!;
    if (group.id !== null) throw new GroupExistsError();
    return await withinQuotas(tx, accountId, async () => {
      const [made] = await tx<GroupRow[]>`
        insert into contact_groups as g (account_id, id, name)
        values (${accountId}, ${newId('gr')}, ${name}) returning ${columns(tx)}`;
      return made!;
    });
  });
}

/** Renames a group. @returns false when the account has none with this id @throws GroupExistsError */
export async function renameGroup(
  sql: Database,
  accountId: string,
  id: string,
  name: string,
): Promise<boolean> {
  try {
    return await changeAddressBook(sql, accountId, async (tx) => {
      const { count } = await tx`
        update contact_groups set name = ${name} where account_id = ${accountId} and id = ${id}`;
      return count > 0;
    });
  } catch (error) {
    if (hasSqlState(error, SQLSTATE.uniqueViolation)) throw new GroupExistsError();
    throw error;
  }
}

/** Deletes a group; its contacts stay. @returns false when the account has none with this id */
export async function deleteGroup(sql: Database, accountId: string, id: string): Promise<boolean> {
  return await changeAddressBook(sql, accountId, async (tx) => {
    const { count } = await tx`delete from contact_groups where account_id = ${accountId} and id = ${id}`;
    return count > 0;
  });
}

/** Finds groups by id or by name, ignoring case. @returns the group for each of `names` */
export async function findGroups(
  sql: Sql,
  accountId: string,
  names: readonly string[],
): Promise<Map<string, NamedGroup>> {
  const found = await sql<{ name: string; compared: string; id: string | null }[]>`
    select n.name, lower(n.name collate "und-x-icu") as compared, coalesce(i.id, g.id) as id
      from unnest(${names as string[]}::text[]) as n (name)
      left join contact_groups i on i.account_id = ${accountId} and i.id = n.name
      left join contact_groups g on g.account_id = ${accountId}
       and lower(g.name collate "und-x-icu") = lower(n.name collate "und-x-icu")`;
  return new Map(found.map(({ name, compared, id }) => [name, { id, compared }]));
}

interface GroupRecipients {
  /** The id or name as given by the caller. */
  name: string;
  id: string | null;
  /** E.164 with plus, in the order of the contacts' ids. */
  msisdns: string[];
}

/**
 * Resolves groups to their members' numbers, in one statement (v2.3.0, Send, field `to`); ids take precedence over names.
 * @param limit maximum of numbers per group @returns one entry for each of `names`, in their order
 */
export async function expandGroups(
  sql: Sql,
  accountId: string,
  names: readonly string[],
  limit: number,
): Promise<GroupRecipients[]> {
  return await sql<GroupRecipients[]>`
    select n.name, g.id, array(
             select c.msisdn
               from group_members m join contacts c on c.account_id = m.account_id and c.id = m.contact_id
              where m.account_id = g.account_id and m.group_id = g.id
              order by m.contact_id limit ${limit}
           ) as msisdns
      from unnest(${names as string[]}::text[]) with ordinality as n (name, position)
      left join lateral (
        select f.account_id, f.id from contact_groups f
         where f.account_id = ${accountId}
           and (f.id = n.name or lower(f.name collate "und-x-icu") = lower(n.name collate "und-x-icu"))
         order by (f.id = n.name) desc limit 1
      ) g on true
     order by n.position`;
}

function columns(sql: Sql) {
  return sql`g.id, g.name, g.created_at,
             (select count(*) from group_members m where m.account_id = g.account_id and m.group_id = g.id) as members`;
}

/** Some contacts would be in more groups than a contact may be in; nothing is added. */
export class ContactGroupsTooManyError extends Error {
  override readonly name = 'ContactGroupsTooManyError';
  readonly contacts: readonly { id: string; msisdn: string }[];

  constructor(contacts: readonly { id: string; msisdn: string }[]) {
    super(`contacts that would be in more than ${CONTACT_GROUPS_MAX} groups: ${contacts.length}`);
    this.contacts = contacts;
  }
}

/**
 * Adds contacts to a group (v2.3.0, Groups) by id, skipping unknown ids, and by number, creating nameless contacts for unknown numbers.
 * @param msisdns E.164 with plus
 * @returns `added`: new memberships, without contacts that were in the group before; null without such a group
 * @throws ContactGroupsTooManyError, QuotaReachedError
 */
export async function addMembers(
  sql: Database,
  accountId: string,
  groupId: string,
  contactIds: readonly string[],
  msisdns: readonly string[],
) {
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
    await enforceGroupLimit(tx, accountId, newMembers);
    await enforceQuotas(tx, accountId, before);
    const [counted] = await tx<{ members: number }[]>`
      select count(*) as members from group_members where account_id = ${accountId} and group_id = ${groupId}`;
    return { added: added.length, members: counted!.members, known: new Set(known.map(({ id }) => id)) };
  });
}

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

/** Reads at most one membership more than a contact may have. */
async function enforceGroupLimit(tx: Sql, accountId: string, contactIds: readonly string[]): Promise<void> {
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
