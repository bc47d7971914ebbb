import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CsvError, parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import type { Confirmation } from '../db/money/invoices.ts';
import { polishDay } from '../domain/calendar.ts';
import { escapeFormula, unescapeFormula } from '../domain/contacts.ts';
import { amount, fa3, type InvoiceDocument } from '../domain/fa3.ts';
import type { Seller } from '../domain/parties.ts';
import { confirmInvoices, exportInvoices } from '../operations/money/invoices.ts';
import { errorCode } from '../domain/errors.ts';
import { command, optional, required, shown } from './command.ts';
import { invalidArgument } from './errors.ts';
import { line, month, text } from './values.ts';

const number = line(256);

// Large, so only these commands load it, when they run.
const ksef = () => import('ksef-client-ts');

export const invoiceCommands = [
  command({
    name: 'invoices export',
    about:
      'Writes the documents of a month for accounting, which issues the invoices: each top-up, statement and refund as FA(3), and all as CSV.',
    options: {
      month: required('--month <YYYY-MM>', 'in Polish time, of the payment, refund or statement', month),
      dir: required('--dir <DIR>', 'where to write; the same again, but for what came back', text),
    },
    async ask(asking, { month, dir }, tools) {
      const { seller, numbering } = await tools.invoicing();
      const { documents, left } = await exportInvoices({ ...asking, input: { month, numbering } });
      await writeAll(dir, month, documents, seller);
      const unsent = documents.filter(({ correction }) => correction?.original.ksefNumber === null);
      return shown(
        { documents: documents.length, left },
        left.length === 0 ? null : 'What is left lacks company data, or its original was not exported.',
        unsent.length === 0
          ? null
          : `${unsent.length} corrections name an original without a number in KSeF: import what it got, and export again.`,
      );
    },
  }),
  command({
    name: 'invoices confirm',
    about: 'Stores the number of an invoice that accounting has issued; the customer sees it.',
    options: {
      document: required('--document <ID>', 'as exported', text),
      number: required('--number <NUMBER>', 'of the invoice', number),
      ksef: optional('--ksef <NUMBER>', 'its number in KSeF', text),
    },
    async ask(asking, { document, number, ksef }) {
      const confirmations = [{ document, number, ksefNumber: ksef ?? null }];
      await requireKsefNumbers(confirmations, () => '--ksef');
      return shown(await confirmInvoices({ ...asking, input: { confirmations } }));
    },
  }),
  command({
    name: 'invoices import',
    about:
      'Does the same for a CSV with document, number and ksef_number, such as the exported one without what was not issued.',
    options: { file: required('<FILE>', 'the CSV, or - for standard input', text) },
    async ask(asking, { file }, tools) {
      const confirmations = confirmationsIn(await tools.read('FILE', file));
      await requireKsefNumbers(confirmations, ({ document }) => `FILE: ${document}`);
      return shown(await confirmInvoices({ ...asking, input: { confirmations } }));
    },
  }),
];

async function writeAll(dir: string, month: string, documents: readonly InvoiceDocument[], seller: Seller) {
  const { buildRawXmlString, validate } = await ksef();
  const files: [name: string, content: string][] = [];
  for (const document of documents) {
    const xml = buildRawXmlString(fa3(document, seller), { pretty: true });
    const { errors } = await validate(xml);
    if (errors.length > 0) throw new Error(`${document.id} is no valid FA(3): ${JSON.stringify(errors[0])}`);
    // Of a correction, the id has one of the processor in it.
    files.push([`${encodeURIComponent(document.id)}.xml`, xml]);
  }
  try {
    await mkdir(dir, { recursive: true });
    files.push([`${month}.csv`, table(documents)]);
    for (const [name, content] of files) await writeFile(join(dir, name), content);
  } catch (error) {
    throw invalidArgument('--dir', `cannot be written to (${errorCode(error) ?? 'unknown'})`);
  }
}

function table(documents: readonly InvoiceDocument[]): string {
  const rows = documents.map(({ id, kind, accountId, subjectId, buyer, at, exportedAt, price, ...rest }) => ({
    document: id,
    kind,
    account: accountId,
    subject: subjectId,
    buyer: escapeFormula(buyer.name),
    nip: buyer.nip,
    date: polishDay(at.getTime()),
    issued: polishDay(exportedAt.getTime()),
    net: amount(price.netGrosze),
    vat: amount(price.vatGrosze),
    gross: amount(price.grossGrosze),
    corrects: escapeFormula(rest.correction?.original.number ?? ''),
    number: escapeFormula(rest.number),
    ksef_number: rest.ksefNumber,
  }));
  return stringify(rows, { header: true, record_delimiter: 'windows' });
}

/** What accounting has numbered: rows without a number, or with the document's id as it was exported, are left out. */
function confirmationsIn(csv: string): Confirmation[] {
  return rowsIn(csv).flatMap((row) => {
    const [document = '', given = '', ksefNumber = ''] = ['document', 'number', 'ksef_number'].map((column) =>
      unescapeFormula(row[column] ?? ''),
    );
    if (given === '' || (given === document && ksefNumber === '')) return [];
    const read = number.safeParse(given);
    if (!read.success) throw invalidArgument('FILE', `${document}: the number cannot be read`);
    return [{ document, number: read.data, ksefNumber: ksefNumber === '' ? null : ksefNumber }];
  });
}

function rowsIn(csv: string): Record<string, string>[] {
  try {
    const delimiter = [',', ';', '\t'];
    const rows = parse<Record<string, string>>(csv, { columns: true, bom: true, trim: true, delimiter });
    if (rows.every((row) => 'document' in row && 'number' in row)) return rows;
  } catch (error) {
    throw invalidArgument('FILE', `is no CSV (${(error as CsvError).code})`);
  }
  throw invalidArgument('FILE', 'needs the columns document and number');
}

async function requireKsefNumbers(
  confirmations: readonly Confirmation[],
  named: (one: Confirmation) => string,
): Promise<void> {
  const { isValidKsefNumber } = await ksef();
  const wrong = confirmations.find(({ ksefNumber }) => ksefNumber !== null && !isValidKsefNumber(ksefNumber));
  if (wrong !== undefined) throw invalidArgument(named(wrong), 'this is no number of KSeF');
}
