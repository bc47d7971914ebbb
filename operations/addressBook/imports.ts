import { transaction } from '../../db/connection.ts';
import * as stored from '../../db/contacts/imports.ts';
import { newId } from '../../db/ids.ts';
import type { NumberedChange } from '../../domain/contactPlan.ts';
import { IMPORT_MAX } from '../../domain/contacts.ts';
import { parseMsisdn } from '../../domain/msisdn.ts';
import { Refused } from '../../domain/refusals.ts';
import type { OperationContext } from '../context.ts';
import { changeBook, importInto, readOne } from './contacts.ts';

/** Contacts of one file. */
export const TABLE_MAX = 100_000;
const ROWS_AT_ONCE = 2_000;

interface NewTable {
  /** Of the file. */
  name: string;
  rows: AsyncIterable<{ cells: string[]; line: number }>;
}

/**
 * Keeps a table for a day, to be imported once somebody has said what its columns are. The first row is a header unless a number is in it.
 * @returns `busy` while another table of the account is being imported @throws Refused contacts_too_many, and what `rows` throws
 */
export async function keepTable({
  services: { sql },
  caller: { accountId },
  input: { name, rows },
}: OperationContext<NewTable>): Promise<'kept' | 'empty' | 'busy'> {
  const id = newId('imp');
  let header: string[] | null | undefined;
  let batch: stored.ImportRow[] = [];
  let lines = 0;
  for await (const { cells, line } of rows) {
    if (header === undefined) {
      header = cells.some((cell) => parseMsisdn(cell.trim()) !== null) ? null : cells;
      const begun = { id, name, header };
      if (!(await transaction(sql, (tx) => stored.insertImport(tx, accountId, begun)))) return 'busy';
      if (header !== null) continue;
    }
    if (lines === TABLE_MAX) throw new Refused({ reason: 'contacts_too_many', limit: TABLE_MAX });
    batch.push({ position: lines, line, cells });
    lines += 1;
    if (batch.length < ROWS_AT_ONCE) continue;
    await stored.insertImportRows(sql, id, batch);
    batch = [];
  }
  await stored.insertImportRows(sql, id, batch);
  if (lines === 0) return 'empty';
  await stored.completeImport(sql, id, lines);
  return 'kept';
}

interface Going {
  /** Reads a row by the names of the columns. @throws Refused */
  read: (columns: readonly (string | null)[], cells: readonly string[]) => NumberedChange;
  /** Epoch milliseconds: begins no more rows from then on. */
  until: number;
}

/** Imports the next rows of the account's table, if it has one whose columns are known: each row once, whoever asks besides. */
export async function continueImport({
  services: { sql },
  caller: { accountId },
  input: { read, until },
}: OperationContext<Going>): Promise<void> {
  const importSome = () =>
    changeBook(sql, accountId, async (tx) => {
      const table = await stored.readImport(tx, accountId);
      if (table === null || table.columns === null) return false;
      const { id, columns, lines } = table;
      const done = rowsDone(table);
      const rows = await stored.readImportRows(tx, id, done, IMPORT_MAX);
      const imported = await importInto(
        tx,
        accountId,
        rows.map(({ cells }) => readOne(cells, (row) => read(columns, row))),
      );
      const problems = imported.invalid.map(({ index, ...problem }) => ({
        position: done + index,
        ...problem,
      }));
      await stored.noteImported(tx, id, imported, problems);
      return done + rows.length < lines;
    });
  while (await importSome()) if (Date.now() >= until) return;
}

/** How many rows have been imported or refused. */
export function rowsDone({ created, updated, failed }: stored.ContactImport): number {
  return created + updated + failed;
}
