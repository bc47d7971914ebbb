import { type Database, type Sql, transaction } from '../../db/connection.ts';

/** Does something in a transaction. @returns its answer, and how many rows of a table PostgreSQL has looked at for it */
export async function rowsRead<T>(
  sql: Database,
  table: string,
  does: (tx: Sql) => Promise<T>,
): Promise<{ answer: T; rows: number }> {
  return await transaction(sql, async (tx) => {
    const before = await soFar(tx, table);
    const answer = await does(tx);
    return { answer, rows: (await soFar(tx, table)) - before };
  });
}

// Of the connection: with those of transactions before this one, where they were not added up yet.
async function soFar(tx: Sql, table: string): Promise<number> {
  const [read] = await tx<{ rows: number }[]>`
    select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows from pg_stat_xact_user_tables where relname = ${table}`;
  return read!.rows;
}

/**
 * As {@link rowsRead}, of what begins transactions of its own.
 * @param sql a pool of one connection
 */
export async function rowsReadByAll(
  sql: Database,
  table: string,
  does: () => Promise<unknown>,
): Promise<number> {
  const before = await everRead(sql, table);
  await does();
  return (await everRead(sql, table)) - before;
}

async function everRead(sql: Database, table: string): Promise<number> {
  await sql`select pg_stat_force_next_flush()`;
  const [read] = await sql<{ rows: number }[]>`
    select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows from pg_stat_user_tables where relname = ${table}`;
  return read!.rows;
}

/**
 * How many pages of a table and its indexes PostgreSQL has looked at: also those of entries that an index alone has ruled out, which are
 * no rows. The planner looks at some too.
 * @param sql a pool of one connection
 */
export async function pagesRead<T>(
  sql: Database,
  table: string,
  does: () => Promise<T>,
): Promise<{ answer: T; pages: number }> {
  const before = await pagesSoFar(sql, table);
  const answer = await does();
  return { answer, pages: (await pagesSoFar(sql, table)) - before };
}

async function pagesSoFar(sql: Database, table: string): Promise<number> {
  await sql`select pg_stat_force_next_flush()`;
  const [read] = await sql<{ pages: number }[]>`
    select (heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)::int as pages
      from pg_statio_user_tables where relname = ${table}`;
  return read!.pages;
}
