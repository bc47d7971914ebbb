import { randomBytes } from 'node:crypto';
import type { Sql } from '../../db/connection.ts';

/** Stores a click with a row of its own, as a visit from a network of its own does; its workflow has still to count it. */
export async function storeClick(
  sql: Sql,
  click: { id: string; token: string; userAgent: string | null; robot: boolean },
): Promise<void> {
  await sql`
    insert into link_clicks (id, token, user_agent, ip_hash, robot)
    values (${click.id}, ${click.token}, ${click.userAgent}, ${randomBytes(8)}, ${click.robot})`;
}
