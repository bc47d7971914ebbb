import type { Dictionary } from '../language.ts';

const pl = {
  heading: 'Rozliczenia',
  about: 'Rozliczenie jest zestawieniem opłat za miesiąc, nie fakturą. Tytułem płatności jest jego numer.',
  none: 'Nie ma jeszcze rozliczeń. Konto płatne z dołu dostaje je pierwszego dnia miesiąca, za miesiąc poprzedni.',
  columns: {
    month: 'Miesiąc i numer',
    net: 'Netto',
    gross: 'Brutto',
    due: 'Termin płatności',
    state: 'Stan',
    documents: 'Pliki',
  },
  states: { paid: 'zapłacone', due: 'do zapłaty', overdue: 'po terminie' },
  pay: 'Zapłać teraz',
};

const en: typeof pl = {
  heading: 'Statements',
  about: 'A statement lists the charges of a month; it is no invoice. Its number is the payment title.',
  none: 'There are no statements yet. A postpaid account gets one on the first day of each month, for the month before.',
  columns: {
    month: 'Month and number',
    net: 'Net',
    gross: 'Gross',
    due: 'Due',
    state: 'State',
    documents: 'Files',
  },
  states: { paid: 'paid', due: 'due', overdue: 'overdue' },
  pay: 'Pay now',
};

export const words: Dictionary<typeof pl> = { pl, en };
