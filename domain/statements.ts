import type { Channel } from './channelDeclaration.ts';
import type { Buyer } from './parties.ts';

/** What a statement bills. */
export type Product = Channel | 'email' | 'lookup';

/** Charges or refunds of one product at one price. */
export interface StatementLine {
  kind: 'charge' | 'refund';
  product: Product;
  /** Of a message, ISO 3166-1 alpha-2; null: of no country, or no message. */
  country: string | null;
  priority: boolean;
  /** Net, of a unit: a part of a message, an address of an e-mail, a look-up. */
  unitGrosze: number;
  /** Messages, e-mails or look-ups. */
  count: number;
  units: number;
  /** Net; negative for refunds. */
  netGrosze: number;
}

/** Lines of a Polish day. */
export interface DatedLine extends StatementLine {
  /** `YYYY-MM-DD`. */
  day: string;
}

/** What a statement says beside its lines. */
export interface StatementFacts {
  id: string;
  accountName: string;
  /** The company profile at issue; null: there was none. */
  buyer: Buyer | null;
  /** `YYYY-MM`, a calendar month in Poland. */
  month: string;
  amountGrosze: number;
  issuedAt: Date;
  dueAt: Date;
}

export const DOCUMENT_FORMATS = ['pdf', 'csv'] as const;
export type DocumentFormat = (typeof DOCUMENT_FORMATS)[number];

const keyOf = ({ kind, product, country, priority, unitGrosze }: StatementLine): string =>
  [kind, product, country, priority, unitGrosze].join(' ');

/** Adds the lines of all days up, in the order of each one's first day. */
export function wholeMonth(lines: readonly DatedLine[]): StatementLine[] {
  const sums = new Map<string, StatementLine>();
  for (const line of lines) {
    const sum = sums.get(keyOf(line));
    if (sum === undefined) {
      sums.set(keyOf(line), { ...line });
      continue;
    }
    sum.count += line.count;
    sum.units += line.units;
    sum.netGrosze += line.netGrosze;
  }
  return [...sums.values()];
}

const CSV_COLUMNS = 'day,type,product,country,priority,unit_grosze,count,units,net_grosze';

/** The lines as CSV, which sum up to the statement's amount. No value needs quotes. */
export function linesAsCsv(lines: readonly DatedLine[]): string {
  const rows = lines.map((line) =>
    [
      ...[line.day, line.kind, line.product, line.country ?? '', line.priority],
      ...[line.unitGrosze, line.count, line.units, line.netGrosze],
    ].join(','),
  );
  return [CSV_COLUMNS, ...rows, ''].join('\r\n');
}
