import type postgres from 'postgres';
import type { Sql } from '../connection.ts';

/** Plain data for a jsonb column; never secrets, and phone numbers only masked: the log cannot be erased. */
export type AuditDetails = Record<string, unknown>;

/** One act of an operator, before it is written. */
export interface AuditEntry {
  /** Who: the user of the operating system. */
  actor: string;
  /** What: the command, such as `keys create`. */
  action: string;
  /** On which account; null for acts on none. */
  account: string | null;
  /** On which thing of the account: a key's id, a sender's name, a statement's id. */
  subject: string | null;
  details: AuditDetails;
}

export interface AuditRow {
  id: number;
  at: Date;
  actor: string;
  action: string;
  account_id: string | null;
  subject: string | null;
  details: unknown;
}

/** Appends to the audit log; call it in the transaction of the act itself. */
export async function writeAudit(sql: Sql, entry: AuditEntry): Promise<void> {
  await sql`
    insert into audit_log (actor, action, account_id, subject, details)
    values (${entry.actor}, ${entry.action}, ${entry.account}, ${entry.subject}, ${sql.json(entry.details as postgres.JSONValue)})`;
}

/** The latest records, newest first; of one account, or of all when `account` is null. */
export async function listAudit(sql: Sql, account: string | null, limit: number): Promise<AuditRow[]> {
  return [
    ...(await sql<AuditRow[]>`
      select id, at, actor, action, account_id, subject, details from audit_log
       where ${account === null ? sql`true` : sql`account_id = ${account}`}
       order by id desc limit ${limit}`),
  ];
}
