import { describe, expect, test } from 'vitest';
import { restrictionOf, isOptOut, splitKeyword } from '../../domain/keywords.ts';

describe('keywords that would carry other accounts’ replies away', () => {
  // As people type them, with a telephone's Polish letters or without.
  test.each([
    ...['tak', 'TAK', 'ok', 'dziekuje', 'DZIEKUJE', 'help', 'Odrzucam', 'bede', 'przyjde', 'juz'],
    ...['wtorek', 'zly'],
  ])('%s is an everyday word', (word) => expect(restrictionOf(word)).toBe('everyday'));

  test.each(['00', '1', '1530', '1234567890'])('%s is a number', (word) =>
    expect(restrictionOf(word)).toBe('everyday'),
  );
  test.each(['15MIN', '10zl', '5x'])('%s is a number with its unit', (word) =>
    expect(restrictionOf(word)).toBe('everyday'),
  );

  test.each(['STOP', 'Wypisz', 'nie'])('%s unsubscribes', (word) => {
    expect(restrictionOf(word)).toBe('opt_out');
    expect(isOptOut(word)).toBe(true);
  });

  test.each(['SKLEP', 'TAKSOWKA', 'NIEMA', 'TAXI24', 'A1', 'MIN15'])('%s anybody may claim', (word) =>
    expect(restrictionOf(word)).toBeNull(),
  );

  test('a keyword is a whole word: who has TAK gets no TAKSOWKA', () => {
    expect(splitKeyword('TAKSOWKA na 10')).toMatchObject({ keyword: 'TAKSOWKA' });
    expect(splitKeyword('Tak, na 10')).toMatchObject({ keyword: 'TAK' });
  });
});
