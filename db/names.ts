import type { Fragment, Sql } from './connection.ts';

/** A page of what an account has given names to, in Polish alphabetical order. */
export interface NamePage {
  /** Part of the name, whatever its case and diacritics; empty: any. */
  q?: string;
  /** The last one of the page before; null or unknown: the first page. */
  after?: string | null;
  /** All unless given. */
  limit?: number;
}

/** As SQL: which rows of a table a page has, and their order. */
export function pageByName(
  sql: Sql,
  table: 'contact_groups' | 'templates',
  accountId: string,
  { q = '', after = null, limit }: NamePage,
): Fragment {
  return sql`
     where account_id = ${accountId} and (${q} = '' or search_form(name) like fragment_pattern(${q}))
       and ((name collate "pl-x-icu", id) > (
             select p.name collate "pl-x-icu", p.id from ${sql(table)} p
              where p.account_id = ${accountId} and p.id = ${after})) is not false
     order by name collate "pl-x-icu", id limit ${limit ?? null}`;
}
