import { describe, expect, test } from 'vitest';
import { restrictionOf, isOptOut, splitKeyword } from '../../domain/keywords.ts';

describe('keywords that would carry other accounts’ replies away', () => {
  // As people type them, with a telephone's Polish letters or without.
  test.each([
    ...[
      'tak',
      'TAK',
      'Tak',
      'no',
      'ok',
      'OKEJ',
      'dobrze',
      'dziekuje',
      'DZIEKUJE',
      'dzieki',
      'prosze',
      'czesc',
    ],
    ...[
      'hej',
      'yes',
      'start',
      'help',
      'pomoc',
      'info',
      'anuluj',
      'akceptuje',
      'Odrzucam',
      'czekam',
      'dobranoc',
      'rezygnuje',
      'bede',
      'przyjde',
      'wiec',
      'juz',
    ],
    ...['potwierdz', 'zaplace', 'wtorek', 'piatek', 'sobota', 'lipiec', 'zly', 'moge', 'dzien', 'piec'],
  ])('%s is an everyday word', (word) => expect(restrictionOf(word)).toBe('everyday'));

  test.each(['00', '01', '1', '12', '7', '1530', '00950', '123456', '500600700', '1234567890'])(
    '%s is a number',
    (word) => expect(restrictionOf(word)).toBe('everyday'),
  );
  test.each(['15MIN', '10zl', '2szt', '18ta', '8h', '5x'])('%s is a number with its unit', (word) =>
    expect(restrictionOf(word)).toBe('everyday'),
  );

  test.each(['STOP', 'stop', 'Wypisz', 'NIE', 'nie'])('%s unsubscribes', (word) => {
    expect(restrictionOf(word)).toBe('opt_out');
    expect(isOptOut(word)).toBe(true);
  });

  test.each([
    'SKLEP',
    'KINO',
    'TAKSOWKA',
    'NIEMA',
    'STOPY',
    'OKNO',
    'TAXI24',
    'A1',
    '4YOU',
    'INFOLINIA',
    'MIN15',
  ])('%s anybody may claim', (word) => expect(restrictionOf(word)).toBeNull());

  test('a keyword is a whole word: who has TAK gets no TAKSOWKA', () => {
    expect(splitKeyword('TAKSOWKA na 10')).toMatchObject({ keyword: 'TAKSOWKA' });
    expect(splitKeyword('Tak, na 10')).toMatchObject({ keyword: 'TAK' });
  });
});
