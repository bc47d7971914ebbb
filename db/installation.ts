import type { Sql } from './connection.ts';

/**
 * Claims a single fact of this installation. Of several concurrent callers the first to commit wins; the others wait
 * for it and get its value.
 * @returns the value that stands, and whether it is the one given
 */
export async function claimFact(
  sql: Sql,
  name: string,
  value: string,
): Promise<{ value: string; claimed: boolean }> {
  const claimed = await sql`
    insert into installation (name, value) values (${name}, ${value}) on conflict (name) do nothing`;
  if (claimed.count === 1) return { value, claimed: true };
  const standing = await readFact(sql, name);
  if (standing === null) throw new Error(`installation.${name} was taken away while it was being read`);
  return { value: standing, claimed: false };
}

/** A fact of this installation; null where nobody has claimed it. */
export async function readFact(sql: Sql, name: string): Promise<string | null> {
  const [row] = await sql<{ value: string }[]>`select value from installation where name = ${name}`;
  return row?.value ?? null;
}
