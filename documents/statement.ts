import { polishDay } from '../domain/calendar.ts';
import type { Buyer, Seller } from '../domain/parties.ts';
import type { Product, StatementFacts, StatementLine } from '../domain/statements.ts';
import { type Price, VAT_PERCENT, withVat } from '../domain/vat.ts';
import { monthInWords, timeInWords } from '../texts/statement.ts';
import type { Typesetter } from './typst.ts';

const AMOUNT = new Intl.NumberFormat('pl-PL', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const COUNT = new Intl.NumberFormat('pl-PL');
const COUNTRIES = new Intl.DisplayNames('pl', { type: 'region' });

const PRODUCTS: Record<Product, string> = {
  sms: 'SMS',
  mms: 'MMS',
  vms: 'Wiadomość głosowa',
  email: 'E-mail',
  lookup: 'Sprawdzenie numeru',
};
const ORDER = Object.keys(PRODUCTS);

const amount = (grosze: number): string => AMOUNT.format(grosze / 100);

/** A statement as a PDF, in Polish. The same input makes the same bytes. */
export function statementPdf(
  typesetter: Typesetter,
  facts: StatementFacts,
  lines: readonly StatementLine[],
  seller: Seller | null,
): Buffer {
  const { printable } = typesetter;
  const price = withVat(facts.amountGrosze);
  const issued = polishDay(facts.issuedAt.getTime());
  const [year, month, day] = issued.split('-').map(Number);
  const buyer = facts.buyer === null ? [facts.accountName] : buyerLines(facts.buyer);
  const parties = [
    ...(seller === null ? [] : [{ heading: 'Sprzedawca', lines: sellerLines(seller) }]),
    { heading: 'Nabywca', lines: buyer },
  ];
  return typesetter.statement({
    id: facts.id,
    title: `Rozliczenie za ${monthInWords(facts.month)}`,
    author: printable(seller?.name ?? 'Goniec'),
    issued: { year, month, day, hour: 0, minute: 0, second: 0 },
    note: 'Zestawienie opłat za usługi w miesiącu. Zestawienie nie jest fakturą.',
    parties: parties.map((party) => ({ ...party, lines: party.lines.map(printable) })),
    facts: [
      ['Numer', facts.id],
      ['Wystawiono', issued.split('-').reverse().join('.')],
      ...payment(facts, price, seller),
    ],
    columns: ['Usługa', 'Liczba', 'Jednostki', 'Cena netto, zł', 'Netto, zł'],
    rows: [...lines]
      .sort(inOrder)
      .map((line) => [
        nameOf(line),
        COUNT.format(line.count),
        COUNT.format(line.units),
        amount(line.unitGrosze),
        amount(line.netGrosze),
      ]),
    sums: [
      ['Razem netto', amount(price.netGrosze)],
      [`VAT ${VAT_PERCENT}%`, amount(price.vatGrosze)],
      ['Razem brutto', amount(price.grossGrosze)],
    ],
    unit: 'Jednostką jest część wiadomości, adres e-maila albo sprawdzenie numeru.',
  });
}

function payment(
  { id, dueAt }: StatementFacts,
  { grossGrosze }: Price,
  seller: Seller | null,
): [name: string, value: string][] {
  if (grossGrosze <= 0) return [['Do zapłaty', '0,00 zł']];
  return [
    ['Do zapłaty', `${amount(grossGrosze)} zł`],
    ['Termin płatności', timeInWords(dueAt)],
    ['Tytuł płatności', id],
    ...(!seller?.iban ? [] : [['Rachunek', seller.iban.replace(/(.{4})(?=.)/g, '$1 ')] as [string, string]]),
  ];
}

function sellerLines({ name, street, postalCode, city, nip }: Seller): string[] {
  return [name, street, `${postalCode} ${city}`, `NIP ${nip}`];
}

function buyerLines({ name, street, postalCode, city, nip }: Buyer): string[] {
  return [name, street, `${postalCode} ${city}`, ...(nip === null ? [] : [`NIP ${nip}`])];
}

function nameOf({ kind, product, country, priority }: StatementLine): string {
  const isMessage = product !== 'email' && product !== 'lookup';
  const details = [
    ...(isMessage ? [country === null ? 'numer bez kraju' : COUNTRIES.of(country)] : []),
    ...(priority ? ['priorytet'] : []),
  ];
  const name = [PRODUCTS[product], ...details].join(', ');
  return kind === 'refund' ? `Zwrot: ${name}` : name;
}

/** Charges before refunds, products in their order, Poland before other countries. */
function inOrder(one: StatementLine, other: StatementLine): number {
  const rank = ({ kind, product, country, priority, unitGrosze }: StatementLine) => [
    ...[kind === 'refund' ? 1 : 0, ORDER.indexOf(product), country === 'PL' ? 0 : 1],
    ...[country ?? '~', priority ? 1 : 0, unitGrosze],
  ];
  const [left, right] = [rank(one), rank(other)];
  const differs = left.findIndex((value, index) => value !== right[index]);
  return differs === -1 ? 0 : left[differs]! < right[differs]! ? -1 : 1;
}
