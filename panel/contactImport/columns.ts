import { type Column, contactOf, readElement } from '../../api/contacts/import.ts';
import type { FailedRow } from '../../db/contacts/imports.ts';
import type { NumberedChange } from '../../domain/contactPlan.ts';
import { customColumn, customKeyOf, customKeyProblem, unescapeFormula } from '../../domain/contacts.ts';
import { parseMsisdn } from '../../domain/msisdn.ts';
import { canonicalText } from '../../domain/text.ts';

export const COLUMNS_MAX = 24;
const KEY_MAX = 31;

/** What a column holds, as its select says: a field of a contact, `field` for a custom one, empty to leave it out. */
export interface Choice {
  what: string;
  /** Of the custom field. */
  key: string;
}

const BY_HEADING = [
  ['first_name', /^(?:imi[eę]|first[ _]?name)/i],
  ['last_name', /^(?:nazwisko|last[ _]?name|surname)/i],
  ['email', /^e-?mail/i],
  ['groups', /^(?:grup|group)/i],
] as const;

/** What the columns of a table probably hold, by its header and first row. */
export function guessed(header: readonly string[] | null, first: readonly string[]): Choice[] {
  const taken = new Set<string>();
  return (header ?? first).map((cell, index) => {
    const heading = header === null ? '' : canonicalText(unescapeFormula(cell)).trim();
    const key = heading.replace(/[^\p{L}0-9_]+/gu, '_').slice(0, KEY_MAX);
    const isNumber = heading.toLowerCase() === 'msisdn' || parseMsisdn((first[index] ?? '').trim()) !== null;
    const meant = isNumber ? 'msisdn' : BY_HEADING.find(([, pattern]) => pattern.test(heading))?.[0];
    const custom = key === heading && customKeyProblem(key) === null ? 'field' : '';
    const what = meant === undefined || taken.has(meant) ? custom : meant;
    taken.add(what);
    return { what, key };
  });
}

/** The columns as the import of the API names them; null: left out. */
export function columnsOf(choices: readonly Choice[]): Column[] {
  return choices.map(({ what, key }) => (what === 'field' ? customColumn(key.trim()) : what || null));
}

/** A row as a contact. @throws Refused */
export function readRow(columns: readonly Column[], cells: readonly string[]): NumberedChange {
  const kept = cells.map((cell, index) => (columns[index] === null ? '' : cell));
  return readElement(contactOf(columns, kept));
}

/** Index of the column that a refused row is refused for; -1: none in particular. */
export function blamedColumn({ problem: { refusal, param } }: FailedRow, columns: readonly Column[]): number {
  // As `contactOf` names a cell beyond the last column.
  if (param?.startsWith('#') === true) return Number(param.slice(1)) - 1;
  if (!('key' in refusal)) return columns.indexOf(param);
  return columns.findIndex((column) => column !== null && customKeyOf(column) === refusal.key);
}
