import type { ContactContent } from '../../domain/contacts.ts';
import type {
  BookExcerpt,
  ContactPlan,
  NamedGroup,
  NumberedChange,
  PlannedContact,
} from '../../domain/contactPlan.ts';
import { byColumnName, type Database, type Sql } from '../connection.ts';
import { changeAddressBook } from './contacts.ts';
import { findGroups } from './groups.ts';

// Rows per statement: an import may name fifty thousand groups, and serializing one huge parameter would block the process.
const GROUPS_AT_ONCE = 2_000;
const MEMBERSHIPS_AT_ONCE = 5_000;

/** Reads the contacts and groups of changes. The caller has locked the address book, so the result is still valid when it writes. */
export async function readNamed(
  tx: Sql,
  accountId: string,
  changes: readonly NumberedChange[],
  names: readonly string[],
): Promise<Pick<BookExcerpt, 'contacts' | 'groups'>> {
  const msisdns = changes.map(({ msisdn }) => msisdn);
  const rows = await tx<(ContactContent & { id: string; msisdn: string })[]>`
    select id, msisdn, first_name, last_name, email, fields from contacts
     where account_id = ${accountId} and msisdn = any(${msisdns}::text[])`;
  const groups = new Map<string, NamedGroup>();
  for (let from = 0; from < names.length; from += GROUPS_AT_ONCE) {
    const found = await findGroups(tx, accountId, names.slice(from, from + GROUPS_AT_ONCE));
    for (const [name, group] of found) groups.set(name, group);
  }
  return { contacts: new Map(rows.map(({ id, msisdn, ...content }) => [msisdn, { id, content }])), groups };
}

export async function writeContacts(
  tx: Sql,
  accountId: string,
  { contacts, newGroups }: ContactPlan,
): Promise<void> {
  if (newGroups.size > 0) {
    await tx`
      insert into contact_groups (account_id, id, name)
      select ${accountId}, g.id, g.name
        from unnest(${[...newGroups.keys()]}::text[], ${[...newGroups.values()]}::text[]) as g (id, name)`;
  }
  const changed = [...contacts].filter(([, contact]) => contact.changed);
  if (changed.length === 0) return;
  const rows = changed.map(([msisdn, { id, content }]) => byColumnName({ id, msisdn, ...content }));
  await tx`
    insert into contacts as c (account_id, id, msisdn, first_name, last_name, email, fields)
    select ${accountId}, r.id, r.msisdn, r.first_name, r.last_name, r.email, r.fields
      from jsonb_populate_recordset(null::contacts, ${JSON.stringify(rows)}::text::jsonb) r
    on conflict (account_id, msisdn) do update
       set first_name = excluded.first_name, last_name = excluded.last_name, email = excluded.email,
           fields = excluded.fields, updated_at = clock_timestamp()`;
  const contactsChanged = changed.map(([, contact]) => contact);
  for (const batch of membershipBatches(contactsChanged)) await writeMemberships(tx, accountId, batch);
}

function membershipBatches(contacts: readonly PlannedContact[]): PlannedContact[][] {
  const batches: PlannedContact[][] = [];
  let left = 0;
  for (const contact of contacts) {
    const size = contact.groups?.size ?? 0;
    if (batches.length === 0 || size > left) {
      batches.push([]);
      left = MEMBERSHIPS_AT_ONCE;
    }
    batches.at(-1)!.push(contact);
    left -= size;
  }
  return batches;
}

/** Changes a contact's number. @returns false when another contact has it */
export async function renumberContact(
  tx: Sql,
  accountId: string,
  id: string,
  msisdn: string,
): Promise<boolean> {
  const { count } = await tx`
    update contacts set msisdn = ${msisdn}, updated_at = clock_timestamp()
     where account_id = ${accountId} and id = ${id}
       and not exists (select from contacts where account_id = ${accountId} and msisdn = ${msisdn})`;
  return count > 0;
}

export async function deleteContact(sql: Database, accountId: string, id: string): Promise<boolean> {
  return await changeAddressBook(sql, accountId, async (tx) => {
    const { count } = await tx`delete from contacts where account_id = ${accountId} and id = ${id}`;
    return count > 0;
  });
}

async function writeMemberships(
  tx: Sql,
  accountId: string,
  contacts: readonly PlannedContact[],
): Promise<void> {
  const assigned = contacts.flatMap(({ id, groups }) =>
    groups === null ? [] : [{ id, groups: [...groups] }],
  );
  if (assigned.length === 0) return;
  const wanted = assigned.flatMap(({ id, groups }) => groups.map((group) => ({ id, group })));
  const contactIds = wanted.map(({ id }) => id);
  const groupIds = wanted.map(({ group }) => group);
  await tx`
    delete from group_members m
     where m.account_id = ${accountId} and m.contact_id = any(${assigned.map(({ id }) => id)}::text[])
       and (m.contact_id, m.group_id) not in (
             select w.contact_id, w.group_id
               from unnest(${contactIds}::text[], ${groupIds}::text[]) as w (contact_id, group_id))`;
  await tx`
    insert into group_members (account_id, contact_id, group_id)
    select ${accountId}, w.contact_id, w.group_id
      from unnest(${contactIds}::text[], ${groupIds}::text[]) as w (contact_id, group_id)
    on conflict do nothing`;
}
