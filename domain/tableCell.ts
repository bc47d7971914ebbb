// What spreadsheets take for the beginning of a formula: the signs of one and all that normalizes to them (NFKC: wide, small,
// raised, lowered, the Hebrew plus and the mathematical minus), also behind blanks and what is not seen; and any break, as some
// drop it. A plain number is none.
const SIGN =
  '[=+\\-@\\u207A-\\u207C\\u208A-\\u208C\\u2212\\uFB29\\uFE62\\uFE63\\uFE66\\uFE6B\\uFF0B\\uFF0D\\uFF1D\\uFF20]';
const BREAK = '[\\t-\\r\\u0085\\u2028\\u2029]';
const FORMULA = new RegExp(`^'*(?:${BREAK}|[\\s\\p{C}]*${SIGN})`, 'u');
// Behind a semicolon the quotes of the file may be a part of the cell.
const LATER_FORMULA = new RegExp(`^['"]*(?:${BREAK}|[\\s\\p{C}'"]*${SIGN})`, 'u');
const PLAIN_NUMBER = /^[+-]?[0-9]+(?:[.,][0-9]+)?$/;

/**
 * A cell that no spreadsheet runs as a formula: an apostrophe goes before what would be one
 * (https://owasp.org/www-community/attacks/CSV_Injection), also behind a semicolon, where a Polish Excel
 * begins a cell. `unprotectedCell` takes it off again, so that an import reads what was exported.
 */
export function protectedCell(value: string): string {
  return byPieces(value, (piece, formula) =>
    formula.test(piece) && !PLAIN_NUMBER.test(piece) ? `'${piece}` : piece,
  );
}

/** What `protectedCell` was made of. */
export function unprotectedCell(cell: string): string {
  return byPieces(cell, (piece, formula) =>
    piece.startsWith("'") && formula.test(piece) ? piece.slice(1) : piece,
  );
}

function byPieces(cell: string, change: (piece: string, formula: RegExp) => string): string {
  return cell
    .split(';')
    .map((piece, index) => change(piece, index === 0 ? FORMULA : LATER_FORMULA))
    .join(';');
}
