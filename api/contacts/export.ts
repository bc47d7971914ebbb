import { stringify } from 'csv-stringify/sync';
import { setImmediate } from 'node:timers/promises';
import {
  type ContactFilter,
  type ContactRow,
  readContacts,
  readFieldKeys,
} from '../../db/contacts/contacts.ts';
import type { Sql } from '../../db/connection.ts';
import { placeholderKey } from '../../domain/placeholders.ts';
import { CONTACT_COLUMNS, customColumn, joinedNames, escapeFormula } from '../../domain/contacts.ts';
import { HttpRefused } from '../http/refusals.ts';

function charactersOf({ fields, groups }: ContactRow): number {
  const inFields = Object.entries(fields).reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  return groups.reduce((sum, { name }) => sum + name.length, inFields);
}

const PAGE = 1000;
// Characters per CSV chunk: a few milliseconds of work, a few dozen if every other character is a quote.
const CHARACTERS_PER_CHUNK = 50_000;
// What an empty cell or a group name costs beyond its own characters.
const CHARACTERS_OF_A_CELL = 5;
// Contacts may each have different custom fields; spreadsheets do not show more columns.
export const CUSTOM_COLUMNS_MAX = 1000;

/**
 * Exports the account's contacts as RFC 4180 CSV, header first, with one page in memory at a time. Contacts added meanwhile may be
 * missing, and a custom field first used meanwhile has no column.
 * @throws HttpRefused when the contacts have more than {@link CUSTOM_COLUMNS_MAX} different custom fields
 */
export async function exportContacts(
  sql: Sql,
  accountId: string,
  filter: ContactFilter,
  limit: number,
): Promise<AsyncIterable<string>> {
  const found = await readFieldKeys(sql, accountId, filter, CUSTOM_COLUMNS_MAX + 1);
  if (found.length > CUSTOM_COLUMNS_MAX) {
    throw new HttpRefused({ reason: 'csv_columns_too_many', limit: CUSTOM_COLUMNS_MAX });
  }
  // Keys that compare as equal share a column.
  const keys = new Map(found.map((key) => [placeholderKey(key), key]));
  return lines(sql, accountId, filter, limit, keys);
}

async function* lines(
  sql: Sql,
  accountId: string,
  filter: ContactFilter,
  limit: number,
  keys: ReadonlyMap<string, string>,
): AsyncGenerator<string> {
  yield csvLines([[...CONTACT_COLUMNS, ...[...keys.values()].map(customColumn)]]);
  const columns = [...keys.keys()];
  let { after } = filter;
  for (let left = limit; left > 0; left -= PAGE) {
    const page = await readContacts(sql, accountId, { ...filter, after }, Math.min(PAGE, left));
    for (const contacts of slices(page, CONTACT_COLUMNS.length + columns.length)) {
      await setImmediate();
      yield csvLines(contacts.map((contact) => cells(contact, columns)));
    }
    if (page.length < PAGE) return;
    after = page.at(-1)!.id;
  }
}

function* slices(contacts: readonly ContactRow[], columns: number): Generator<ContactRow[]> {
  let slice: ContactRow[] = [];
  let characters = 0;
  for (const contact of contacts) {
    slice.push(contact);
    characters += charactersOf(contact) + CHARACTERS_OF_A_CELL * (columns + contact.groups.length);
    if (characters < CHARACTERS_PER_CHUNK) continue;
    yield slice;
    slice = [];
    characters = 0;
  }
  if (slice.length > 0) yield slice;
}

function cells(contact: ContactRow, keys: readonly string[]): string[] {
  const { msisdn, firstName, lastName, email, groups, fields } = contact;
  const values = new Map(Object.entries(fields).map(([key, value]) => [placeholderKey(key), value]));
  const names = joinedNames(groups.map(({ name }) => name));
  const texts = [firstName, lastName, email, names, ...keys.map((key) => values.get(key))];
  return [msisdn, ...texts.map((text) => escapeFormula(text ?? ''))];
}

/** Rows as CSV. Quotes more than RFC 4180 requires: some readers treat these characters as separators. */
export function csvLines(rows: readonly string[][]): string {
  return stringify([...rows], { record_delimiter: '\r\n', quoted_match: /[\r\n;\t]/ });
}
