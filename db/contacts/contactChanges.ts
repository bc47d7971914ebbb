import type { ContactChange } from '../../domain/contacts.ts';
import { refuseBeyond } from '../accounts/quotas.ts';
import { changeAddressBook } from './addressBook.ts';
import type { Database, Sql } from '../connection.ts';
import {
  type ContactPlan,
  type ContactRefusal,
  type Imported,
  type NumberedChange,
  type PlannedContact,
  planContacts,
} from './contactPlan.ts';
import { type ContactRow, readContact } from './contacts.ts';

/** A single contact was not written, and nothing else either. */
export class ContactRefusedError extends Error {
  override readonly name = 'ContactRefusedError';
  readonly refusal: ContactRefusal;

  constructor(refusal: ContactRefusal) {
    super(`contact refused: ${refusal.reason}`);
    this.refusal = refusal;
  }
}

/**
 * Creates the contact of a number, or updates it when there is one (v2.3.0, Contacts). Groups named for the first time
 * are created.
 * @throws ContactRefusedError
 */
export async function saveContact(
  sql: Database,
  accountId: string,
  numbered: NumberedChange,
): Promise<{ created: boolean; contact: ContactRow }> {
  return await changeAddressBook(sql, accountId, async (tx) => {
    const { id, created } = await saveOne(tx, accountId, numbered);
    return { created, contact: (await readContact(tx, accountId, id))! };
  });
}

/**
 * Creates and updates many contacts, one after the other: of two elements with one number the later one updates what
 * the earlier one made. What cannot be written leaves the others as they are.
 * @returns what became of each element, in their order
 */
export async function importContacts(
  sql: Database,
  accountId: string,
  elements: readonly NumberedChange[],
): Promise<Imported[]> {
  return await changeAddressBook(sql, accountId, async (tx) => {
    const plan = await planContacts(tx, accountId, elements);
    await write(tx, accountId, plan);
    return plan.outcomes;
  });
}

/**
 * Changes one contact (v2.3.0, PATCH /v1/contacts/{id}).
 * @returns null when the account has no contact of this id
 * @throws ContactRefusedError also when the new number is another contact's
 */
export async function changeContact(
  sql: Database,
  accountId: string,
  id: string,
  { msisdn, ...change }: ContactChange & { msisdn?: string | undefined },
): Promise<ContactRow | null> {
  return await changeAddressBook(sql, accountId, async (tx) => {
    const stored = await readContact(tx, accountId, id);
    if (stored === null) return null;
    if (msisdn !== undefined && msisdn !== stored.msisdn) await renumber(tx, accountId, id, msisdn);
    await saveOne(tx, accountId, { msisdn: msisdn ?? stored.msisdn, change });
    return await readContact(tx, accountId, id);
  });
}

/** Removes a contact and its memberships. @returns false when the account has none of this id */
export async function deleteContact(sql: Database, accountId: string, id: string): Promise<boolean> {
  return await changeAddressBook(sql, accountId, async (tx) => {
    const { count } = await tx`delete from contacts where account_id = ${accountId} and id = ${id}`;
    return count > 0;
  });
}

async function renumber(tx: Sql, accountId: string, id: string, msisdn: string): Promise<void> {
  const { count } = await tx`
    update contacts set msisdn = ${msisdn}, updated_at = clock_timestamp()
     where account_id = ${accountId} and id = ${id}
       and not exists (select from contacts where account_id = ${accountId} and msisdn = ${msisdn})`;
  if (count === 0) throw new ContactRefusedError({ reason: 'number_taken' });
}

async function saveOne(
  tx: Sql,
  accountId: string,
  numbered: NumberedChange,
): Promise<{ id: string; created: boolean }> {
  const plan = await planContacts(tx, accountId, [numbered]);
  const outcome = plan.outcomes[0]!;
  if (typeof outcome === 'object') throw new ContactRefusedError(outcome);
  await write(tx, accountId, plan);
  return { id: plan.contacts.get(numbered.msisdn)!.id, created: outcome === 'created' };
}

async function write(
  tx: Sql,
  accountId: string,
  { contacts, newGroups, before }: ContactPlan,
): Promise<void> {
  if (newGroups.size > 0) {
    await tx`
      insert into contact_groups (account_id, id, name)
      select ${accountId}, g.id, g.name
        from unnest(${[...newGroups.keys()]}::text[], ${[...newGroups.values()]}::text[]) as g (id, name)`;
  }
  const changed = [...contacts].filter(([, contact]) => contact.changed);
  if (changed.length === 0) return;
  const rows = changed.map(([msisdn, { id, content }]) => ({ id, msisdn, ...content }));
  await tx`
    insert into contacts as c (account_id, id, msisdn, first_name, last_name, email, fields)
    select ${accountId}, r.id, r.msisdn, r.first_name, r.last_name, r.email, r.fields
      from jsonb_populate_recordset(null::contacts, ${JSON.stringify(rows)}::text::jsonb) r
    on conflict (account_id, msisdn) do update
       set first_name = excluded.first_name, last_name = excluded.last_name, email = excluded.email,
           fields = excluded.fields, updated_at = clock_timestamp()`;
  await writeMemberships(
    tx,
    accountId,
    changed.map(([, contact]) => contact),
  );
  await refuseBeyond(tx, accountId, before);
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
