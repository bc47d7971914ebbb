import { describe, expect, test } from 'vitest';
import { reminderWords, statementWords } from '../../texts/statement.ts';
import { pln } from '../../texts/words.ts';

const STATEMENT = {
  ...{ statement: 'st_1', account: 'cl_1', month: '2026-10', amountGrosze: 123_405 },
  ...{ dueAt: new Date('2026-11-15T11:00:00Z'), paidAt: null },
};
const due = (dueAt: string) =>
  /^Termin płatności: (.+)$/m.exec(statementWords({ ...STATEMENT, dueAt: new Date(dueAt) }).text)?.[1];

describe('the e-mail of a statement', () => {
  test('says the month, what is to be paid until when, and how it is booked', () => {
    expect(statementWords(STATEMENT)).toEqual({
      subject: 'Rozliczenie za październik 2026',
      text: [
        'Dzień dobry,',
        '',
        'przesyłamy rozliczenie miesięczne za październik 2026.',
        '',
        'Konto: cl_1',
        'Kwota netto: 1234,05 PLN',
        'Termin płatności: 15.11.2026, godz. 12:00 czasu polskiego',
        'Tytuł płatności: st_1',
        '',
        'Po terminie płatności wysyłki są wstrzymane do zaksięgowania wpłaty.',
        '',
        'Ta wiadomość została wysłana automatycznie; prosimy na nią nie odpowiadać.',
      ].join('\n'),
    });
  });

  test('of one that is paid asks for nothing', () => {
    const { text } = statementWords({ ...STATEMENT, paidAt: new Date() });
    expect(text).toContain('nie trzeba nic płacić');
    expect(text).not.toContain('wstrzymane');
  });

  test.each([
    ['2026-06-14T22:00:00Z', '15.06.2026, godz. 00:00 czasu polskiego'],
    ['2026-12-31T23:30:00Z', '01.01.2027, godz. 00:30 czasu polskiego'],
    // An hour is left out in spring, and comes twice in autumn.
    ['2027-03-28T00:59:59.999Z', '28.03.2027, godz. 01:59 czasu polskiego'],
    ['2027-03-28T01:00:00Z', '28.03.2027, godz. 03:00 czasu polskiego'],
    ['2026-10-25T00:30:00Z', '25.10.2026, godz. 02:30 czasu polskiego'],
    ['2026-10-25T01:30:00Z', '25.10.2026, godz. 02:30 czasu polskiego'],
    ['2026-10-25T02:00:00Z', '25.10.2026, godz. 03:00 czasu polskiego'],
  ])('due at %s says %s', (at, words) => {
    expect(due(at)).toBe(words);
  });

  test.each([
    [0, '0,00 PLN'],
    [5, '0,05 PLN'],
    [10, '0,10 PLN'],
    [1080, '10,80 PLN'],
    [100_000_000_000, '1000000000,00 PLN'],
    [-105, '-1,05 PLN'],
  ])('%d grosze are %s', (grosze, words) => {
    expect(pln(grosze)).toBe(words);
  });

  test('every month has its name', () => {
    const subjects = Array.from({ length: 12 }, (_, index) => {
      const month = `2026-${String(index + 1).padStart(2, '0')}`;
      return statementWords({ ...STATEMENT, month }).subject;
    });
    expect(new Set(subjects).size).toBe(12);
    expect(subjects.join()).not.toContain('undefined');
  });
});

test('a reminder says that it is overdue, and how much', () => {
  const { subject, text } = reminderWords(STATEMENT);
  expect(subject).toBe('Przypomnienie: rozliczenie za październik 2026 jest po terminie płatności');
  expect(text).toContain(
    'Kwota netto: 1234,05 PLN\nTermin płatności: 15.11.2026, godz. 12:00 czasu polskiego',
  );
});
