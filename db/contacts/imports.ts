import type postgres from 'postgres';
import type { Refusal } from '../../domain/refusals.ts';
import type { Sql } from '../connection.ts';

/** A table of contacts on its way into the address book. */
export interface ContactImport {
  id: string;
  /** Of the file. */
  name: string;
  /** Null: its first row is a contact. */
  header: string[] | null;
  /** How many contacts it has. */
  lines: number;
  /** What each column is; null: not said yet. */
  columns: (string | null)[] | null;
  created: number;
  updated: number;
  failed: number;
}

export interface ImportRow {
  /** From 0. */
  position: number;
  /** Of the file, from 1. */
  line: number;
  cells: string[];
}

export interface RowProblem {
  refusal: Refusal;
  /** The field to blame. */
  param: string | null;
}

export interface FailedRow extends ImportRow {
  problem: RowProblem;
}

/** Begins the account's import. One that is over, or has not begun, gives way. @returns false while another one is under way */
export async function insertImport(
  tx: Sql,
  accountId: string,
  { id, name, header }: Pick<ContactImport, 'id' | 'name' | 'header'>,
): Promise<boolean> {
  await tx`
    delete from contact_imports
     where account_id = ${accountId} and (lines is null or columns is null or created + updated + failed = lines)`;
  const { count } = await tx`
    insert into contact_imports (id, account_id, name, header)
    values (${id}, ${accountId}, ${name}, ${jsonOf(tx, header)})
    on conflict (account_id) do nothing`;
  return count > 0;
}

export async function insertImportRows(sql: Sql, id: string, rows: readonly ImportRow[]): Promise<void> {
  await sql`
    insert into contact_import_rows (import_id, position, line, cells)
    select i.id, r.position, r.line, r.cells
      from contact_imports i
     cross join jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as r (position int, line int, cells jsonb)
     where i.id = ${id}`;
}

/** Notes that the table has arrived as a whole. */
export async function completeImport(sql: Sql, id: string, lines: number): Promise<void> {
  await sql`update contact_imports set lines = ${lines} where id = ${id}`;
}

export async function readImport(sql: Sql, accountId: string): Promise<ContactImport | null> {
  const [found] = await sql<ContactImport[]>`
    select id, name, header, lines, columns, created, updated, failed from contact_imports
     where account_id = ${accountId} and lines is not null`;
  return found ?? null;
}

/** Says what each column is, unless it has been said. */
export async function nameColumns(
  sql: Sql,
  accountId: string,
  id: string,
  columns: readonly (string | null)[],
): Promise<void> {
  await sql`
    update contact_imports set columns = ${jsonOf(sql, columns)}
     where account_id = ${accountId} and id = ${id} and columns is null`;
}

export async function readImportRows(
  sql: Sql,
  id: string,
  from: number,
  limit: number,
): Promise<ImportRow[]> {
  return await sql<ImportRow[]>`
    select position, line, cells from contact_import_rows
     where import_id = ${id} and position >= ${from} order by position limit ${limit}`;
}

/** Adds what became of the next rows. */
export async function noteImported(
  tx: Sql,
  id: string,
  { created, updated }: Pick<ContactImport, 'created' | 'updated'>,
  problems: readonly ({ position: number } & RowProblem)[],
): Promise<void> {
  await tx`
    update contact_import_rows r set problem = p.problem
      from (select (value->>'position')::int as position, value - 'position' as problem
              from jsonb_array_elements(${JSON.stringify(problems)}::text::jsonb)) p
     where r.import_id = ${id} and r.position = p.position`;
  await tx`
    update contact_imports
       set created = created + ${created}, updated = updated + ${updated}, failed = failed + ${problems.length}
     where id = ${id}`;
}

/** Rows that were refused, by position. */
export async function readFailedRows(
  sql: Sql,
  id: string,
  from: number,
  limit: number,
): Promise<FailedRow[]> {
  return await sql<FailedRow[]>`
    select position, line, cells, problem from contact_import_rows
     where import_id = ${id} and position >= ${from} and problem is not null order by position limit ${limit}`;
}

export async function deleteImport(sql: Sql, accountId: string, id: string): Promise<void> {
  await sql`delete from contact_imports where account_id = ${accountId} and id = ${id}`;
}

function jsonOf(sql: Sql, value: unknown) {
  return value === null ? null : sql.json(value as postgres.JSONValue);
}
