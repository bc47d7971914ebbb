import { isUtf8 } from 'node:buffer';
import { csvLines } from '../../api/contacts/export.ts';
import { readTable, requireUsable, type TableRow } from '../../api/contacts/import.ts';
import { HttpRefused } from '../../api/http/refusals.ts';
import {
  type ContactImport,
  deleteImport,
  nameColumns,
  readFailedRows,
  readImport,
  readImportRows,
} from '../../db/contacts/imports.ts';
import { MANAGERS } from '../../domain/actor.ts';
import { escapeFormula, unescapeFormula } from '../../domain/contacts.ts';
import { continueImport, keepTable } from '../../operations/addressBook/imports.ts';
import { attempt, type Fault, faultOf, requireActive } from '../ask.ts';
import { accountPage, type Answer, type MemberVisit } from '../route.ts';
import { type Choice, COLUMNS_MAX, columnsOf, guessed, readRow } from './columns.ts';
import { Import, Match, UPLOAD_MAX, UploadForm } from './view.tsx';
import { words } from './words.ts';

const PATH = '/panel/contacts/import';
const PREVIEWED = 5;
const FAILED_SHOWN = 50;
const FAILED_AT_ONCE = 1_000;
// Of one request: the page says how far it is in between.
const IMPORT_MS = 2_500;

async function page(
  visit: MemberVisit,
  { fault = null, choices }: { fault?: Fault | null; choices?: readonly Choice[] } = {},
): Promise<Answer> {
  const { services, account, language } = visit;
  const status = fault === null ? 200 : 422;
  const title = words[language].heading;
  const table = await readImport(services.sql, account.id);
  if (table === null) return { status, title, view: <UploadForm {...{ language, fault }} /> };
  if (table.columns === null) {
    const rows = await readImportRows(services.sql, table.id, 0, PREVIEWED);
    const shown = choices ?? guessed(table.header, rows[0]?.cells ?? []);
    return { status, title, view: <Match {...{ language, table, rows, fault }} choices={shown} /> };
  }
  const failed = await readFailedRows(services.sql, table.id, 0, FAILED_SHOWN);
  const view = <Import {...{ language, table, failed, fault }} columns={table.columns} />;
  return { status, title, view };
}

async function upload(visit: MemberVisit): Promise<Answer> {
  const { language } = visit;
  const say = words[language];
  requireActive(visit);
  const refused = (text: string, field: string | null = 'file') => page(visit, { fault: { field, text } });
  const file = await visit.readUpload();
  if (file === null) return refused(say.noFile);
  const text = textOf(file.bytes);
  if (text === null) return refused(say.notText);
  const input = { name: file.name, rows: bounded(readTable(text)) };
  const { answer, fault } = await attempt(language, keepTable({ ...visit, input }));
  if (fault !== null) return refused(fault.text);
  if (answer === 'busy') return refused(say.busy, null);
  return answer === 'kept' ? { to: PATH } : refused(say.empty);
}

/** A file in UTF-8, which Polish spreadsheets write in Windows-1250, too; null: it is no text. */
function textOf(bytes: Buffer): Buffer | null {
  if (bytes.includes(0)) return null;
  return isUtf8(bytes) ? bytes : Buffer.from(new TextDecoder('windows-1250').decode(bytes));
}

/** @throws HttpRefused for a table that the form of its columns does not hold */
async function* bounded(rows: AsyncIterable<TableRow>): AsyncGenerator<TableRow> {
  let isFirst = true;
  for await (const row of rows) {
    if (isFirst && row.cells.length > COLUMNS_MAX)
      throw new HttpRefused({ reason: 'csv_header_too_wide', limit: COLUMNS_MAX });
    isFirst = false;
    // One more than the form holds shows that there are more; a line of nothing but separators has a hundred thousand.
    yield { ...row, cells: row.cells.slice(0, COLUMNS_MAX + 1) };
  }
}

async function match(visit: MemberVisit): Promise<Answer> {
  const { services, account, form, language } = visit;
  requireActive(visit);
  const asked = Array.from({ length: COLUMNS_MAX }, (_, index) => index);
  const choices = asked.flatMap((index) => {
    const what = form.get(`column-${index}`);
    return what === undefined ? [] : [{ what, key: form.get(`key-${index}`) ?? '' }];
  });
  const columns = columnsOf(choices);
  try {
    requireUsable(columns);
  } catch (thrown) {
    return page(visit, { fault: { ...faultOf(language, thrown), field: 'column-0' }, choices });
  }
  await nameColumns(services.sql, account.id, form.get('import') ?? '', columns);
  return goOn(visit);
}

async function goOn(visit: MemberVisit): Promise<Answer> {
  requireActive(visit);
  visit.acquireHeavySlot();
  const input = { read: readRow, until: Date.now() + IMPORT_MS };
  const { fault } = await attempt(visit.language, continueImport({ ...visit, input }));
  return fault === null ? { to: PATH } : page(visit, { fault: { ...fault, field: null } });
}

/** The lines that were refused, with the header of their file, as it was sent. */
async function* failedLines(
  { services: { sql } }: MemberVisit,
  table: ContactImport,
): AsyncGenerator<string> {
  const header = table.header ?? table.columns!.map((column) => column ?? '');
  const lineOf = (cells: readonly string[]) => cells.map((cell) => escapeFormula(unescapeFormula(cell)));
  yield csvLines([lineOf(header)]);
  for (let from = 0; ;) {
    const rows = await readFailedRows(sql, table.id, from, FAILED_AT_ONCE);
    yield csvLines(rows.map(({ cells }) => lineOf(cells)));
    if (rows.length < FAILED_AT_ONCE) return;
    from = rows.at(-1)!.position + 1;
  }
}

async function download(visit: MemberVisit): Promise<Answer> {
  const table = await readImport(visit.services.sql, visit.account.id);
  if (table === null || table.columns === null) return { to: PATH };
  visit.acquireHeavySlot();
  return { status: 200, filename: 'contacts-refused.csv', csv: failedLines(visit, table) };
}

export const contactImportRoutes = [
  accountPage(PATH, MANAGERS, { get: (visit) => page(visit), post: upload, uploadBytes: UPLOAD_MAX }),
  accountPage(`${PATH}/columns`, MANAGERS, { post: match }),
  accountPage(`${PATH}/continue`, MANAGERS, { post: goOn }),
  accountPage(`${PATH}/refused`, MANAGERS, { get: download }),
  accountPage(`${PATH}/discard`, MANAGERS, {
    async post({ services, account, form }) {
      await deleteImport(services.sql, account.id, form.get('import') ?? '');
      return { to: PATH };
    },
  }),
];
