// What spreadsheets take for the beginning of a formula: the signs of one and all that normalizes to them (NFKC: wide, small,
// raised, lowered, the Hebrew plus and the mathematical minus), also behind blanks and what is not seen; and any break, as some
// drop it. A plain number is none.
const SIGN =
  '[=+\\-@\\u207A-\\u207C\\u208A-\\u208C\\u2212\\uFB29\\uFE62\\uFE63\\uFE66\\uFE6B\\uFF0B\\uFF0D\\uFF1D\\uFF20]';
const DANGER = `(?:[\\t-\\r\\u0085\\u2028\\u2029]|[\\s\\p{C}]*${SIGN})`;
const FORMULA = new RegExp(`^'*${DANGER}`, 'u');
const PROTECTED = new RegExp(`^'+${DANGER}`, 'u');
const PLAIN_NUMBER = /^[+-]?[0-9]+(?:[.,][0-9]+)?$/;

/**
 * A cell that no spreadsheet runs as a formula: an apostrophe goes before what would be one
 * (https://owasp.org/www-community/attacks/CSV_Injection). `unprotectedCell` takes it off again, so that an import reads
 * what was exported.
 */
export function protectedCell(value: string): string {
  return FORMULA.test(value) && !PLAIN_NUMBER.test(value) ? `'${value}` : value;
}

/** What `protectedCell` was made of. */
export function unprotectedCell(cell: string): string {
  return PROTECTED.test(cell) ? cell.slice(1) : cell;
}
