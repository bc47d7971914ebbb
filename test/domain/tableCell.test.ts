import { describe, expect, test } from 'vitest';
import { escapeFormula, unescapeFormula } from '../../domain/contacts.ts';

describe('a cell of a table', () => {
  test.each([
    ...['', 'Jan Kowalski', "O'Brien", "'", 'a=1', 'jan@example.com', '1-2', '#1', '12,50', '-1'],
    ...['+48500100200', '-12,5', '+0.125'],
  ])('"%s", which no spreadsheet runs, stays as it is', (value) => {
    expect(escapeFormula(value)).toBe(value);
    expect(unescapeFormula(value)).toBe(value);
  });

  test.each([
    ...['=1+1', '+1+1', '@SUM(A1)', '=', '\t1', ' =1', "+cmd|' /C calc'!A0", '-1,', '+1.2.3', '--1'],
    ...['-1 ', '+1e5', '-1\n', ' -1', '－1', "'=1"],
  ])('%j, which one may run, gets one apostrophe before it', (value) => {
    expect(escapeFormula(value)).toBe(`'${value}`);
    expect(unescapeFormula(`'${value}`)).toBe(value);
  });

  test.each([
    ['Jan;=1+1', "Jan;'=1+1"],
    ['Jan;"=1+1', `Jan;'"=1+1`],
    ['Jan; " \'@A1', `Jan;' " '@A1`],
    ["Jan;'=1", "Jan;''=1"],
    [';=', ";'="],
  ])('%j, which one may run where it begins a cell at a semicolon, gets one there', (value, cell) => {
    expect(escapeFormula(value)).toBe(cell);
    expect(unescapeFormula(cell)).toBe(value);
  });

  test.each(['Jan;Ewa', 'Jan;-5;12,50', 'Jan;"Ewa"', "Jan;'Ewa"])(
    '%j, whose pieces none runs, stays as it is',
    (value) => {
      expect(escapeFormula(value)).toBe(value);
      expect(unescapeFormula(value)).toBe(value);
    },
  );
});
