import { openDatabase, type Database } from '../../db/connection.ts';

/** Does something with a database, on a connection of its own. */
export async function withDatabase<T>(url: string, work: (sql: Database) => Promise<T>): Promise<T> {
  const sql = openDatabase(url, 1);
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Writes what {@link read} finds again. */
export const write = (url: string) =>
  withDatabase(url, async (sql) => {
    await sql`create table kept (word text)`;
    await sql`insert into kept values ('Gżegżółka')`;
  });
export const read = (url: string) =>
  withDatabase(url, async (sql) => [...(await sql`select upper(word) as word from kept`)]);
export const WRITTEN = [{ word: 'GŻEGŻÓŁKA' }];
