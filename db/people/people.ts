import type { Role } from '../../domain/actor.ts';
import type { Sql } from '../connection.ts';

export interface Membership {
  accountId: string;
  accountName: string;
  role: Role;
}

/** Inserts a test account, without its credits. */
export async function insertTestAccount(tx: Sql, id: string, name: string, contact: string): Promise<void> {
  await tx`select open_test_account(${id}, ${name}, ${contact})`;
}

/** The person with the address, locked: a new one with this id if there is none. */
export async function ensurePerson(tx: Sql, id: string, address: string): Promise<string> {
  const [row] = await tx<{ id: string }[]>`
    insert into people (id, address) values (${id}, ${address})
    on conflict (address) do update set address = excluded.address returning id`;
  return row!.id;
}

/** Locks a person against other changes of address and factors. */
export async function lockPerson(tx: Sql, person: string): Promise<void> {
  await tx`select from people where id = ${person} for no key update`;
}

/** The person with the address. */
export async function personWith(sql: Sql, address: string): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`select id from people where address = ${address}`;
  return row?.id;
}

/** Whether somebody has the address, or can have it back. @param asker who gave it up may take it again */
export async function isAddressTaken(
  sql: Sql,
  address: string,
  asker: string | null = null,
): Promise<boolean> {
  const [row] = await sql<{ isTaken: boolean }[]>`
    select exists (select from people where address = ${address})
        or exists (select from address_changes
                    where address = ${address} and confirmed_at is not null and expires_at > now()
                      and person_id is distinct from ${asker}) as is_taken`;
  return row!.isTaken;
}

export async function addMembership(tx: Sql, person: string, account: string, role: Role): Promise<void> {
  await tx`insert into memberships (person_id, account_id, role) values (${person}, ${account}, ${role})`;
}

/** Keeps a person in the accounts until the transaction ends, whoever is about to end a membership. */
export async function lockMemberships(tx: Sql, person: string): Promise<void> {
  await tx`select from memberships where person_id = ${person} for key share`;
}

/** The accounts of a person, the first one first. */
export async function membershipsOf(sql: Sql, person: string): Promise<Membership[]> {
  return await sql<Membership[]>`
    select m.account_id, a.name as account_name, m.role
      from memberships m join accounts a on a.id = m.account_id
     where m.person_id = ${person} order by m.created_at, m.account_id`;
}
