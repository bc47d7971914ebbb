import { CsvError, parse } from 'csv-parse';
import { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import {
  CONTACT_COLUMNS,
  CONTACT_GROUPS_MAX,
  customKeyOf,
  customKeyProblem,
  GROUP_NAME_MAX,
  IMPORT_MAX,
  isContactColumn,
  repeatedKey,
  splitNames,
  unescapeFormula,
} from '../../domain/contacts.ts';
import { CUSTOM_COLUMNS_MAX } from './export.ts';
import { Refused } from '../../domain/refusals.ts';
import { storable } from '../../domain/ids.ts';
import { canonicalText, isBlank } from '../../domain/text.ts';
import { HttpRefused } from '../http/refusals.ts';
import type { NumberedChange } from '../../domain/contactPlan.ts';
import { importContacts, saveContact } from '../../operations/addressBook/contacts.ts';
import { endpoint } from '../http/endpoint.ts';
import { documented, inputSchema, parseAs } from '../fields.ts';
import { problemText } from '../http/texts.ts';
import { validate } from '../http/invoke.ts';
import { contactRecord, contactSchema, numberedContact } from './contacts.ts';

// The header, the allowed rows, and one more to detect an excess; the rest need not be parsed.
const ROWS_READ = 1 + IMPORT_MAX + 1;
const COLUMNS_MAX = CONTACT_COLUMNS.length + CUSTOM_COLUMNS_MAX;
// All group names of a contact, with every character escaped by a backslash.
const CELL_MAX = CONTACT_GROUPS_MAX * (2 * GROUP_NAME_MAX + 1);
// A separator per column, the groups cell, and 100,000 for a contact's custom fields with the longest values in quotes.
const ROW_MAX = COLUMNS_MAX + CELL_MAX + 100_000;
// A few milliseconds of parsing; other requests run between chunks.
const PIECE_BYTES = 32_768;

const SEPARATORS = [',', ';', '\t'] as const;
const BREAK = /\r\n|\r|\n/;

type Cells = readonly string[];
/** What a column of a table is: `msisdn` and the like, or the name of a custom field; null: its cells have to be empty. */
export type Column = string | null;

// Parses a contact table with a header into the objects that a JSON body would have. Columns are separated by commas, semicolons or tabs;
// unknown ones are custom fields. An empty cell clears its field. Values are validated later, like those of JSON.
async function readContactsCsv(utf8: Buffer): Promise<unknown[]> {
  const rows: Cells[] = [];
  for await (const { cells } of readTable(utf8)) if (rows.push(cells) === ROWS_READ) break;
  const [header, ...contacts] = rows;
  const columns = readHeader(header ?? []);
  return contacts.map((cells) => contactOf(columns, cells));
}

/** A row of a table. */
export interface TableRow {
  cells: string[];
  /** Where it begins, from 1. */
  line: number;
}

/** Rows of a table, its header first. Other requests run between pieces of it. @throws HttpRefused csv_malformed, csv_header_too_wide */
export async function* readTable(utf8: Buffer): AsyncGenerator<TableRow> {
  const { delimiter, from } = layoutOf(utf8.toString('utf8', 0, ROW_MAX));
  const parser = parse({
    bom: true,
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_quotes: true,
    skip_empty_lines: true,
    skip_records_with_empty_values: true,
    max_record_size: ROW_MAX,
    // A row of the wrong length is an invalid element, not an invalid table.
    relax_column_count: true,
    raw: true,
    info: true,
  });
  Readable.from(pieces(utf8.subarray(from))).pipe(parser);
  const skipped = from === 0 ? 0 : 1;
  try {
    for await (const row of parser as AsyncIterable<Row>) {
      const breaks = row.record.reduce((sum, cell) => sum + cell.split(BREAK).length - 1, 0);
      yield { cells: cellsOf(row), line: row.info.lines + skipped - breaks };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line: unknown = error['lines'];
    throw new HttpRefused({ reason: 'csv_malformed', line: typeof line === 'number' ? line : null });
  }
}

async function* pieces(utf8: Buffer): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  for (let from = 0; from < utf8.length; from += PIECE_BYTES) {
    await setImmediate();
    yield decoder.write(utf8.subarray(from, from + PIECE_BYTES));
  }
}

interface Row {
  record: string[];
  raw: string;
  info: { lines: number };
}

// The parser leaves a cell in quotes as it is where others inside are not doubled; the outer ones are none of its own.
function cellsOf({ record, raw, info: { lines: line } }: Row): string[] {
  if (!record.some((cell) => cell.startsWith('"'))) return record;
  const quoted = new Set(
    Array.from(raw.matchAll(/"((?:[^"]|"")*)"/g), ([, cell]) => cell?.replaceAll('""', '"')),
  );
  return record.map((cell) => {
    if (!cell.startsWith('"') || quoted.has(cell)) return cell;
    // Rather a quote that is never closed, and the next row.
    if (/[\r\n]/.test(cell)) throw new HttpRefused({ reason: 'csv_malformed', line });
    return /^"(.*)"\s*$/.exec(cell)?.[1] ?? cell;
  });
}

/** Where the table begins, and its separator: of a line `sep=;`, or else the most frequent one of the header. Polish spreadsheets write semicolons. */
function layoutOf(beginning: string): { delimiter: string; from: number } {
  const [line = '', declared] = /^"?sep=([,;\t|])"?[,;\t|]*(?:\r\n?|\n|$)/i.exec(beginning) ?? [];
  if (declared !== undefined) return { delimiter: declared, from: line.length };
  const [header = ''] = /[^\s,;][^\r\n]*/.exec(beginning) ?? [];
  const columns = SEPARATORS.map((separator) => header.split(separator).length);
  const most = Math.max(...columns);
  // Twice the limit, as quoted names may contain separators; `readHeader` checks the exact number.
  if (most > 2 * COLUMNS_MAX) throw tooWide();
  return { delimiter: SEPARATORS[columns.indexOf(most)]!, from: 0 };
}

function tooWide(): HttpRefused {
  return new HttpRefused({ reason: 'csv_header_too_wide', limit: COLUMNS_MAX });
}

/** The columns' names; null for one without a name, whose cells have to be empty. */
function readHeader(header: Cells): Column[] {
  if (header.length > COLUMNS_MAX) throw tooWide();
  const columns = header.map((cell): Column => {
    const name = canonicalText(unescapeFormula(cell)).trim();
    return isContactColumn(name.toLowerCase()) ? name.toLowerCase() : name || null;
  });
  requireUsable(columns);
  return columns;
}

/** @throws Refused, HttpRefused for columns that are no contacts' */
export function requireUsable(columns: readonly Column[]): void {
  if (!columns.includes('msisdn')) throw new Refused({ reason: 'field_missing', field: 'msisdn' }, 'msisdn');
  const named = columns.filter((name) => name !== null);
  const repeated = repeatedKey(named);
  if (repeated !== null) throw new HttpRefused({ reason: 'csv_column_repeated', column: repeated });
  for (const column of named.filter((name) => !isContactColumn(name))) {
    const fault = customKeyProblem(customKeyOf(column));
    if (fault !== null) throw new Refused({ reason: `field_key_${fault}`, key: column }, 'fields');
  }
}

/** A row as the object that a JSON body would have. */
export function contactOf(columns: readonly Column[], row: Cells): unknown {
  const contact: Record<string, unknown> = {};
  const fields: [string, string][] = [];
  for (const [index, raw] of row.entries()) {
    const column = columns[index] ?? null;
    // A cell longer than any field stays one value, to be refused as too long.
    const cell = raw.length > CELL_MAX ? storable(raw.slice(0, CELL_MAX)) : unescapeFormula(raw);
    if (column === null) {
      // A value without a column is refused as an unknown field.
      if (isBlank(cell)) continue;
      contact[`#${index + 1}`] = cell;
      break;
    } else if (column === 'groups') contact['groups'] = raw.length > CELL_MAX ? [cell] : splitNames(cell);
    else if (column === 'msisdn') contact['msisdn'] = cell.trim();
    else if (isContactColumn(column)) contact[column] = cell;
    else fields.push([customKeyOf(column), cell]);
  }
  return { ...contact, ...(fields.length === 0 ? {} : { fields: Object.fromEntries(fields) }) };
}

// 500 contacts with 20 custom fields, names and e-mail, in two-byte characters: 500 * (20 * (462 + 6) + 2 * 200 + 254 + 150) = 5.1 MB;
// the rest is for groups. Nearly all imports are under 0.5 MB.
const REQUEST_LIMIT = 6 * 1024 * 1024;

type Body = { single: NumberedChange } | { elements: unknown[] };

// Validates a single object; the handler validates the elements of an array one by one, so that an invalid one does not fail the others.
const oneOrMany = z
  .unknown()
  .meta(described())
  .transform((value, context): Body => {
    if (Array.isArray(value)) return { elements: value };
    return { single: parseAs(numberedContact, value, context) };
  });

const invalidElement = z.strictObject({
  index: documented(z.int().nonnegative(), 'Its place in the array, from 0.', 0),
  message: documented(
    z.string(),
    'What is wrong with it, in Polish.',
    'Pole „msisdn” ma nieprawidłową wartość.',
  ),
});
export const importSchema = z.strictObject({
  created: documented(z.int().nonnegative(), 'Contacts that are new.', 1),
  updated: documented(z.int().nonnegative(), 'Contacts that were known.', 0),
  invalid: documented(z.array(invalidElement), 'Elements that were left out.', []),
});

/** POST /v1/contacts (v2.3.0, Contacts): creates or updates by number; an array or `text/csv` is an import. */
export const saveContacts = endpoint({
  method: 'POST',
  path: '/v1/contacts',
  scope: 'manage',
  id: 'saveContacts',
  summary: 'Creates or updates contacts by number.',
  description:
    'Creates contacts or updates those whose number is known: given fields overwrite, omitted ones stay, `groups` replaces the memberships. One object is answered with the Contact; an array with counts, its bad elements listed in `invalid`. Takes `text/csv` as an array.',
  statusTexts: { 404: 'A group id is unknown.' },
  errors: [404],
  body: oneOrMany,
  example: { msisdn: '+48500100200', first_name: 'Anna', fields: { miasto: 'Kraków' }, groups: ['Klienci'] },
  bodyLimit: REQUEST_LIMIT,
  parseCsv: readContactsCsv,
  responses: { 200: contactSchema, 201: z.union([contactSchema, importSchema]) },
  async handle(call) {
    const { body } = call;
    if ('elements' in body) {
      const { invalid, ...counts } = await importContacts({ ...call, input: body.elements }, readElement);
      const listed = invalid.map(({ index, refusal }) => ({ index, message: problemText(refusal) }));
      return { status: 201, body: { ...counts, invalid: listed } };
    }
    const { created, contact } = await saveContact({ ...call, input: body.single });
    const record = contactRecord(contact);
    return created ? { status: 201, body: record } : { status: 200, body: record };
  },
});

/** A contact of a JSON body. @throws Refused */
export function readElement(element: unknown): NumberedChange {
  if (typeof element !== 'object' || element === null || Array.isArray(element)) {
    throw new Refused({ reason: 'contact_not_object' });
  }
  return validate(numberedContact, element);
}

function described(): Record<string, unknown> {
  const contact = inputSchema(numberedContact);
  return { oneOf: [contact, { type: 'array', maxItems: IMPORT_MAX, items: contact }] };
}
