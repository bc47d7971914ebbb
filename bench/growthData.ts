import type { Database } from '../db/connection.ts';

/** When messages of an account were submitted; all instants in epoch milliseconds. */
export interface Submitted {
  priority: boolean;
  createdAt: number;
  /** Null for a message sent at once. */
  sendAt: number | null;
  submittedAt: number;
}

/** All submitted messages of an account, in the order in which they were submitted. */
export async function submittedOf(sql: Database, account: string): Promise<Submitted[]> {
  return [
    ...(await sql<Submitted[]>`
      select m.priority, extract(epoch from m.created_at)::float8 * 1000 as created_at,
             extract(epoch from m.send_at)::float8 * 1000 as send_at,
             extract(epoch from min(p.submitted_at))::float8 * 1000 as submitted_at
        from messages m join message_parts p on p.message_id = m.id
       where m.account_id = ${account}
       group by m.id
       order by min(p.submitted_at)`),
  ];
}
