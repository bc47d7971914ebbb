import type { IssuedInvoice } from '../../db/money/invoices.ts';

/** The numbers of the invoices of a payment or statement, with those of KSeF. */
export function numbersOf(invoices: readonly IssuedInvoice[], subject: string): string[] {
  return invoices
    .filter(({ subjectId }) => subjectId === subject)
    .map(({ number, ksefNumber }) => (ksefNumber === null ? number : `${number} (KSeF ${ksefNumber})`));
}
