import type { PersonActor, Role } from '../../domain/actor.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import type { Sql } from '../connection.ts';

/** A person of an account. */
export interface Member {
  id: string;
  address: string;
  role: Role;
  since: Date;
  /** Gets the account's e-mails about money. */
  alerted: boolean;
}

/** The people of an account, the first one first. */
export async function membersOf(sql: Sql, account: string): Promise<Member[]> {
  return await sql<Member[]>`
    select p.id, p.address, m.role, m.created_at as since, m.alerted
      from memberships m join people p on p.id = m.person_id
     where m.account_id = ${account} order by m.created_at, p.id`;
}

/**
 * Reads the role of a person who asks for a change again, with the account locked: others may have changed it while the request waited.
 * @throws StaffRefused
 */
export async function requireRole(tx: Sql, { id, accountId: account, role }: PersonActor): Promise<void> {
  const same = await tx`
    select from memberships where person_id = ${id} and account_id = ${account} and role = ${role}`;
  if (same.count === 0) throw new StaffRefused({ reason: 'account_missing', account });
}

/** Changes a role, which ends the person's sessions of this account. */
export async function setRole(tx: Sql, account: string, person: string, role: Role): Promise<void> {
  await tx`update memberships set role = ${role} where person_id = ${person} and account_id = ${account}`;
  if (role !== 'owner') await withdrawInvitationsOf(tx, account, person);
  await tx`delete from sessions where person_id = ${person} and account_id = ${account}`;
}

/** Sets which people get the account's e-mails about money. */
export async function setAlerted(tx: Sql, account: string, people: readonly string[]): Promise<void> {
  await tx`update memberships set alerted = person_id = any(${[...people]}::text[]) where account_id = ${account}`;
}

/** Ends a membership, with the person's sessions of this account. */
export async function removeMembership(tx: Sql, account: string, person: string): Promise<void> {
  await tx`delete from memberships where person_id = ${person} and account_id = ${account}`;
  await withdrawInvitationsOf(tx, account, person);
}

/** Who is no owner any more has invited nobody. */
async function withdrawInvitationsOf(tx: Sql, account: string, person: string): Promise<void> {
  await tx`delete from invitations where account_id = ${account} and invited_by = ${person}`;
}

/** Shows no account in the person's sessions of this one, so that they outlast the membership. */
export async function hideAccount(tx: Sql, account: string, person: string): Promise<void> {
  await tx`update sessions set account_id = null where person_id = ${person} and account_id = ${account}`;
}
