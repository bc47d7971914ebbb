import { readFile } from 'node:fs/promises';
import { statementsOf } from '../../db/migrate.ts';
import { openDatabase } from '../../db/connection.ts';

const SCRIPT = new URL('./fill.sql', import.meta.url);

/** Fills a migrated database as `fill.sql` says, without triggers; its indexes are made again afterwards, which is sooner. @param url a superuser's */
export async function fill(url: string): Promise<void> {
  const sql = openDatabase(url, 1);
  try {
    await sql.unsafe(
      `set session_replication_role = replica; set maintenance_work_mem = '1GB'; set work_mem = '256MB'`,
    );
    const indexes = await sql<{ name: string; definition: string }[]>`
      select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
        from pg_index i join pg_class t on t.oid = i.indrelid
       where t.relname = any(array['messages', 'message_parts', 'contacts', 'emails', 'delivery_reports']) and not i.indisunique`;
    for (const { name } of indexes) await sql`drop index ${sql(name)}`;
    for (const statement of statementsOf(await readFile(SCRIPT, 'utf8')))
      await timed(statement, () => sql.unsafe(statement));
    for (const { definition } of indexes) await timed(definition, () => sql.unsafe(definition));
    await timed('vacuum', () => sql`vacuum analyze`);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

async function timed(statement: string, work: () => PromiseLike<unknown>): Promise<void> {
  const start = performance.now();
  await work();
  console.error(
    `${((performance.now() - start) / 1000).toFixed(1)} s  ${statement.slice(0, 70).replaceAll('\n', ' ')}`,
  );
}
