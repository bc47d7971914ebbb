import type { Sql } from '../connection.ts';

/** What one of staff asks another to approve. */
export interface Approval {
  id: string;
  command: string;
  /** As typed, by the names of the command's options; null: it is decided. */
  arguments: Record<string, string> | null;
  reason: string;
  askedBy: string;
  createdAt: Date;
  expiresAt: Date;
  decidedBy: string | null;
  isApproved: boolean | null;
}

const SHOWN = 100;
const OPEN_MAX = 200;

/** @returns false where too many are open */
export async function addApproval(
  tx: Sql,
  { id, command, typed, reason, askedBy }: NewApproval & { id: string },
): Promise<boolean> {
  const added = await tx`
    insert into approvals (id, command, arguments, reason, asked_by)
    select ${id}, ${command}, ${tx.json(typed)}, ${reason}, ${askedBy}
     where (select count(*) from approvals where decided_at is null and expires_at > now()) < ${OPEN_MAX}`;
  return added.count > 0;
}

export interface NewApproval {
  command: string;
  typed: Readonly<Record<string, string>>;
  reason: string;
  askedBy: string;
}

/** Those that are open, and the latest that are decided, newest first. What was typed into expired ones is forgotten. */
export async function listApprovals(sql: Sql): Promise<Approval[]> {
  await sql`update approvals set arguments = null where decided_at is null and expires_at <= now() and arguments is not null`;
  return await sql<Approval[]>`
    select id, command, arguments, reason, asked_by, created_at, expires_at, decided_by, is_approved from approvals
     where expires_at > now() or decided_at is not null order by decided_at is not null, id desc limit ${SHOWN}`;
}

/** One that waits; undefined where there is none. */
export async function openApproval(sql: Sql, id: string): Promise<Approval | undefined> {
  const [row] = await sql<Approval[]>`
    select id, command, arguments, reason, asked_by, created_at, expires_at, decided_by, is_approved from approvals
     where id = ${id} and decided_at is null and expires_at > now()`;
  return row;
}

/** Decides, once; what was typed is forgotten. @returns false where it is decided, or was asked for by the same person */
export async function decideApproval(
  tx: Sql,
  id: string,
  { by, isApproved }: { by: string; isApproved: boolean },
): Promise<boolean> {
  const decided = await tx`
    update approvals set decided_by = ${by}, is_approved = ${isApproved}, decided_at = now(), arguments = null
     where id = ${id} and decided_at is null and expires_at > now() and asked_by <> ${by}`;
  return decided.count > 0;
}
