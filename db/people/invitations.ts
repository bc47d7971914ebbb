import type { Role } from '../../domain/actor.ts';
import type { Fragment, Sql } from '../connection.ts';

/** An open invitation as the owners of its account see it. */
export interface Invitation {
  id: string;
  address: string;
  role: Role;
  /** The address of who invited; null: somebody who is no more. */
  invitedBy: string | null;
  expiresAt: Date;
}

/** The open invitations of an account, the latest one first. */
export async function invitationsOf(sql: Sql, account: string): Promise<Invitation[]> {
  return await sql<Invitation[]>`
    select i.id, i.address, i.role, p.address as invited_by, i.expires_at
      from invitations i left join people p on p.id = i.invited_by
     where i.account_id = ${account} and ${isOpen(sql)} order by i.id desc`;
}

interface NewInvitation {
  id: string;
  account: string;
  address: string;
  role: Role;
  invitedBy: string;
}

/** Stores an invitation, in place of one that has expired. The caller has locked the account. */
export async function insertInvitation(
  tx: Sql,
  { id, account, address, role, invitedBy }: NewInvitation,
): Promise<void> {
  await tx`delete from invitations where account_id = ${account} and address = ${address}`;
  await tx`
    insert into invitations (id, account_id, address, role, invited_by)
    values (${id}, ${account}, ${address}, ${role}, ${invitedBy})`;
}

/** Keeps an invitation open for another seven days. */
export async function extendInvitation(tx: Sql, id: string): Promise<void> {
  await tx`update invitations set expires_at = default where id = ${id}`;
}

export async function deleteInvitation(tx: Sql, id: string): Promise<void> {
  await tx`delete from invitations where id = ${id}`;
}

/** An open invitation as the invited person sees it. */
export interface ShownInvitation {
  id: string;
  accountId: string;
  accountName: string;
  address: string;
  role: Role;
}

/** An open invitation; undefined: it is over, or was never ours. */
export async function readInvitation(sql: Sql, id: string): Promise<ShownInvitation | undefined> {
  const [row] = await sql<ShownInvitation[]>`
    select i.id, i.account_id, a.name as account_name, i.address, i.role
      from invitations i join accounts a on a.id = i.account_id where i.id = ${id} and ${isOpen(sql)}`;
  return row;
}

function isOpen(sql: Sql): Fragment {
  return sql`i.expires_at > now()`;
}
