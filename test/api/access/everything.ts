import { database } from '../../support/factories.ts';

/** All that is stored of an account itself and in the tables named, as text: equal before and after means unchanged. */
export async function everythingOf(
  { id }: { id: string },
  tables: readonly string[],
): Promise<Record<string, string[]>> {
  const sql = database();
  const rows: Record<string, string[]> = {
    account: (await sql`select to_jsonb(a)::text as row from accounts a where id = ${id}`).map(textOf),
  };
  for (const table of tables) {
    rows[table] = (
      await sql`select to_jsonb(t)::text as row from ${sql(table)} t where account_id = ${id} order by 1`
    ).map(textOf);
  }
  return rows;
}

const textOf = (row: Record<string, unknown>) => String(row['row']);
