import type { Dictionary } from '../language.ts';

const pl = {
  heading: 'Rozliczenia',
  about: 'Rozliczenie jest zestawieniem opłat za miesiąc, nie fakturą. Tytułem płatności jest jego numer.',
  none: 'Nie ma jeszcze rozliczeń. Konto płatne z dołu dostaje je pierwszego dnia miesiąca, za miesiąc poprzedni.',
  columns: {
    month: 'Miesiąc',
    id: 'Numer',
    net: 'Netto',
    gross: 'Brutto',
    due: 'Termin płatności',
    state: 'Stan',
    documents: 'Dokumenty',
  },
  states: { paid: 'zapłacone', due: 'do zapłaty', overdue: 'po terminie' },
  file: (format: string) => `Pobierz ${format}`,
  pay: 'Zapłać teraz',
};

const en: typeof pl = {
  heading: 'Statements',
  about: 'A statement lists the charges of a month; it is no invoice. Its number is the payment title.',
  none: 'There are no statements yet. A postpaid account gets one on the first day of each month, for the month before.',
  columns: {
    month: 'Month',
    id: 'Number',
    net: 'Net',
    gross: 'Gross',
    due: 'Due',
    state: 'State',
    documents: 'Documents',
  },
  states: { paid: 'paid', due: 'due', overdue: 'overdue' },
  file: (format) => `Download ${format}`,
  pay: 'Pay now',
};

export const words: Dictionary<typeof pl> = { pl, en };
