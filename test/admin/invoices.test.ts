import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readSource } from '../../bin/admin/tools.ts';
import { newId } from '../../db/ids.ts';
import { invoicesOf, type Numbering } from '../../db/money/invoices.ts';
import type { Buyer } from '../../domain/parties.ts';
import { withVat } from '../../domain/vat.ts';
import { faultsOf } from '../support/fa3.ts';
import { commandLine, noTools, ownDatabase, serviceLine } from './support.ts';

const seller = {
  ...{
    name: 'Goniec sp. z o.o.',
    nip: '5252344078',
    street: 'ul. Żółwia 1',
    postalCode: '00-950',
    city: 'Warszawa',
  },
  iban: 'PL61109010140000071219812874',
};
let numbering: Numbering;
const database = ownDatabase();
const { run, ok, no } = commandLine(database.url, () => ({
  ...noTools(),
  invoicing: () => Promise.resolve({ seller, numbering }),
  read: readSource,
}));
const sql = () => database.sql();

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'goniec-invoices-'));
});
afterAll(() => rm(home, { recursive: true }));
beforeEach(async () => {
  numbering = { kind: 'VAT', pattern: 'GON/{year}/{n}' };
  await sql()`truncate invoices, payment_reversals, payments, statement_documents, statements, company_profiles`;
});

const kwiaty: Buyer = {
  ...{
    kind: 'company',
    nip: '7811767696',
    name: '=Kwiaty & "Żona"',
    street: 'Rynek 2/3',
    postalCode: '30-001',
  },
  city: 'Kraków',
};

/** Books a top-up of 61.50 PLN. */
async function paid(account: string, at: string, buyer: Buyer = kwiaty, method = 'card'): Promise<string> {
  const id = newId('pay');
  const { netGrosze, vatGrosze, grossGrosze } = withVat(5_000);
  await sql()`
    insert into payments (id, account_id, net_grosze, vat_grosze, gross_grosze, buyer, processor, reference, method, state, paid_at)
    values (${id}, ${account}, ${netGrosze}, ${vatGrosze}, ${grossGrosze}, ${sql().json({ ...buyer })}, 'simulated', ${`simulated:${id}`},
            ${method}, 'paid', ${at})`;
  return id;
}

async function takenBack(
  payment: string,
  at: string,
  net: number,
  gross: number,
  kind = 'refund',
  id = newId('req'),
) {
  await sql()`
    insert into payment_reversals (payment_id, id, kind, gross_grosze, net_grosze, created_at)
    values (${payment}, ${id}, ${kind}, ${gross}, ${net}, ${at})`;
  return `${payment}.${id}`;
}

/** Files by their names. */
async function exported(month: string): Promise<Record<string, string>> {
  const dir = await mkdtemp(join(home, 'export-'));
  await ok('invoices', 'export', '--month', month, '--dir', dir);
  const names = (await readdir(dir)).sort();
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(dir, name), 'utf8')] as const)),
  );
}

const rowsIn = (files: Record<string, string>, month: string) =>
  parse<Record<string, string>>(files[`${month}.csv`]!, { columns: true });

const KSEF = '5265877635-20250826-0100001AF629-AF';

test('each top-up, refund and statement of the month is a valid document, the same when exported again', async () => {
  const account = await database.account({ billing_mode: 'postpaid' });
  const first = await paid(account, '2026-10-31T23:00:00Z');
  const second = await paid(
    account,
    '2026-11-30T22:59:59Z',
    { ...kwiaty, kind: 'consumer', nip: null },
    'blik',
  );
  await paid(account, '2026-10-31T22:59:59Z');
  await paid(account, '2026-11-30T23:00:00Z');
  const refund = await takenBack(first, '2026-11-20T12:00:00Z', 2_000, 2_460);
  const dispute = await takenBack(first, '2026-11-21T12:00:00Z', 3_000, 3_690, 'dispute', 'dp_/../x');
  await ok(
    ...['accounts', 'company', '--account', account, '--kind', 'company', '--nip', 'PL 781-176-76-96'],
    ...['--name', 'Kwiaty', '--street', 'Rynek 2/3', '--postal-code', '30001', '--city', 'Kraków'],
  );
  const statement = newId('st');
  await sql()`
    insert into statements (id, account_id, month, amount_grosze, issued_at, due_at)
    values (${statement}, ${account}, '2026-10-01', 1001, '2026-11-01T06:00:00Z', '2026-11-15T06:00:00Z'),
           (${newId('st')}, ${account}, '2026-09-01', 0, '2026-11-01T06:00:00Z', '2026-11-15T06:00:00Z')`;
  const files = await exported('2026-11');
  expect(
    rowsIn(files, '2026-11').map(({ document, kind, net, vat, gross }) => [document, kind, net, vat, gross]),
  ).toEqual([
    [first, 'VAT', '50.00', '11.50', '61.50'],
    [statement, 'VAT', '10.01', '2.30', '12.31'],
    [refund, 'KOR', '-20.00', '-4.60', '-24.60'],
    [dispute, 'KOR', '-30.00', '-6.90', '-36.90'],
    [second, 'VAT', '50.00', '11.50', '61.50'],
  ]);
  const { [`2026-11.csv`]: table, ...documents } = files;
  expect(table).toContain(`"'=Kwiaty & ""Żona"""`);
  expect(Object.keys(documents)).toEqual(
    [first, second, statement, refund, dispute].map((id) => `${encodeURIComponent(id)}.xml`).sort(),
  );
  expect(await faultsOf(documents)).toEqual([]);
  expect(documents[`${encodeURIComponent(dispute)}.xml`]).toMatch(
    /<P_11>30\.00<\/P_11>[^]*<StanPrzed>1<[^]*<P_11>0\.00<\/P_11>/,
  );
  numbering = { kind: 'ZAL', pattern: 'X/{year}/{n}' };
  expect(await exported('2026-11')).toEqual(files);
});

describe('numbers', () => {
  test('have no gaps, in the order of what happened, whoever exports at once', async () => {
    const account = await database.account();
    const days = ['01', '02', '03', '04', '05', '06'];
    for (const day of days) await paid(account, `2026-11-${day}T12:00:00Z`);
    const [one, other] = await Promise.all([exported('2026-11'), exported('2026-11')]);
    expect(one).toEqual(other);
    await paid(account, '2026-10-01T12:00:00Z');
    await exported('2026-10');
    const numbers = await sql()<{ number: string; ordinal: number; year: number }[]>`
      select i.number, i.ordinal, i.year from invoices i join payments p on p.id = i.id order by i.exported_at, p.paid_at`;
    expect(numbers.map(({ number }) => number)).toEqual(
      numbers.map(({ year }, index) => `GON/${year}/${index + 1}`),
    );
    expect(rowsIn(one, '2026-11').map(({ date }) => date)).toEqual(days.map((day) => `2026-11-${day}`));
    await sql()`update invoices set year = year - 1, number = 'of last year: ' || number`;
    await paid(account, '2026-09-01T12:00:00Z');
    expect(rowsIn(await exported('2026-09'), '2026-09')[0]!['number']).toMatch(/^GON\/\d{4}\/1$/);
  });

  test('are the ids until accounting has numbered, and an advance is corrected as one', async () => {
    numbering = { kind: 'ZAL', pattern: null };
    const account = await database.account();
    const id = await paid(account, '2026-11-01T12:00:00Z');
    const refund = await takenBack(id, '2026-11-02T12:00:00Z', 5_000, 6_150);
    const rows = rowsIn(await exported('2026-11'), '2026-11');
    expect(rows.map(({ kind, number, corrects }) => [kind, number, corrects])).toEqual([
      ['ZAL', id, ''],
      ['KOR_ZAL', refund, id],
    ]);
  });
});

test('what came back before it was exported leaves no trace, what was exported is corrected again', async () => {
  const account = await database.account();
  const id = await paid(account, '2026-11-01T12:00:00Z');
  await takenBack(id, '2026-11-02T12:00:00Z', 2_000, 2_460);
  await sql()`update payment_reversals set returned_at = '2026-11-03T12:00:00Z'`;
  const dispute = await takenBack(id, '2026-11-04T12:00:00Z', 5_000, 6_150, 'dispute');
  expect(rowsIn(await exported('2026-11'), '2026-11').map(({ document }) => document)).toEqual([id, dispute]);
  await sql()`update payment_reversals set returned_at = '2026-12-05T12:00:00Z' where kind = 'dispute'`;
  const files = await exported('2026-12');
  expect(rowsIn(files, '2026-12')).toMatchObject([{ document: `${dispute}.returned`, gross: '61.50' }]);
  expect(files[`${dispute}.returned.xml`]).toMatch(/<P_11>0\.00<[^]*<StanPrzed>1<[^]*<P_11>50\.00</);
  expect(await faultsOf({ 'a.xml': files[`${dispute}.returned.xml`]! })).toEqual([]);
});

test('a correction is exported after those of earlier months', async () => {
  const account = await database.account();
  const id = await paid(account, '2026-10-01T12:00:00Z');
  await exported('2026-10');
  await takenBack(id, '2026-10-31T12:00:00Z', 1_000, 1_230);
  const later = await takenBack(id, '2026-11-02T12:00:00Z', 1_000, 1_230);
  const { code, message } = await no('invoices', 'export', '--month', '2026-11', '--dir', join(home, 'late'));
  expect({ code, message }).toEqual({
    code: 'refused',
    message: 'Corrections of 2026-10 have no documents: export that month first.',
  });
  await exported('2026-10');
  expect((await exported('2026-11'))[`${later}.xml`]).toMatch(/<P_11>40\.00<[^]*<P_11>30\.00</);
});

test('what lacks company data or its original waits, and is named', async () => {
  const account = await database.account({ billing_mode: 'postpaid' });
  const statement = newId('st');
  await sql()`
    insert into statements (id, account_id, month, amount_grosze, issued_at, due_at)
    values (${statement}, ${account}, '2026-10-01', 1000, '2026-11-01T06:00:00Z', '2026-11-15T06:00:00Z')`;
  const refund = await takenBack(
    await paid(account, '2026-10-05T12:00:00Z'),
    '2026-11-05T12:00:00Z',
    1_000,
    1_230,
  );
  const dir = join(home, 'left');
  const answer = await ok('invoices', 'export', '--month', '2026-11', '--dir', dir);
  expect(answer).toMatchObject({
    documents: 0,
    left: [{ id: statement, account_id: account }, { id: refund }],
  });
});

describe('what comes back from accounting', () => {
  test('is shown to the customer whose it is, and named by later corrections', async () => {
    const account = await database.account();
    const id = await paid(account, '2026-11-01T12:00:00Z');
    const refund = await takenBack(id, '2026-11-02T12:00:00Z', 1_000, 1_230);
    const before = await exported('2026-11');
    expect(before[`${refund}.xml`]).toContain('<NrKSeFN>1<');
    expect(await invoicesOf(sql(), account, [id])).toEqual([]);
    await ok('invoices', 'confirm', '--document', id, '--number', 'FV 12/2026', '--ksef', KSEF);
    expect(await database.lastAudit(account)).toMatchObject({
      ...{ action: 'invoices confirm', subject: id },
      details: { number: 'FV 12/2026', ksef_number: KSEF },
    });
    const issued = { subjectId: id, kind: 'VAT', number: 'FV 12/2026', ksefNumber: KSEF };
    expect(await invoicesOf(sql(), account, [id])).toEqual([issued]);
    expect(await invoicesOf(sql(), await database.account(), [id])).toEqual([]);
    const after = await exported('2026-11');
    expect(after[`${refund}.xml`]).toMatch(`<NrFaKorygowanej>FV 12/2026</NrFaKorygowanej>`);
    expect(after[`${refund}.xml`]).toContain(`<NrKSeFFaKorygowanej>${KSEF}<`);
    expect(await faultsOf({ 'a.xml': after[`${refund}.xml`]! })).toEqual([]);
  });

  test('is read in bulk from the exported table, with semicolons too; all or nothing', async () => {
    numbering = { kind: 'VAT', pattern: null };
    const account = await database.account();
    const [one, two, three] = [
      await paid(account, '2026-11-01T12:00:00Z'),
      await paid(account, '2026-11-02T12:00:00Z'),
      await paid(account, '2026-11-03T12:00:00Z'),
    ];
    const files = await exported('2026-11');
    const file = join(home, 'back.csv');
    await writeFile(file, files['2026-11.csv']!);
    expect(await ok('invoices', 'import', file)).toEqual({ confirmed: 0 });
    const rows = (...lines: string[]) =>
      writeFile(file, ['\ufeffdocument;number;ksef_number', ...lines].join('\r\n'));
    await rows(`${one};FV/1;${KSEF}`, `${two};FV/2;`, `${three};;`);
    expect(await ok('invoices', 'import', file)).toEqual({ confirmed: 2 });
    expect(await invoicesOf(sql(), account, [one, two, three])).toMatchObject([
      { number: 'FV/1', ksefNumber: KSEF },
      { number: 'FV/2', ksefNumber: null },
    ]);
    await rows(`${three};FV/3;`, `${two};FV/1;`);
    expect((await no('invoices', 'import', file)).message).toContain('Another document has this number');
    expect(await invoicesOf(sql(), account, [three])).toEqual([]);
  });

  test.each([
    [['confirm', '--document', 'pay_x', '--number', '1'], 'There is no document pay_x'],
    [['confirm', '--document', 'pay_x', '--number', '1', '--ksef', KSEF.replace('AF', 'AE')], '--ksef'],
    [['import', 'COLUMNS'], 'needs the columns document and number'],
    [['import', 'QUOTES'], 'is no CSV'],
  ])('is refused: %j', async (line, message) => {
    await writeFile(join(home, 'COLUMNS'), 'document\npay_1');
    await writeFile(join(home, 'QUOTES'), 'document,number\n"a,b');
    const typed = line.map((word) => (/^[A-Z]+$/.test(word) ? join(home, word) : word));
    expect((await no('invoices', ...typed)).message).toContain(message);
  });
});

test('the seller and the numbers are those of the settings, and the folder can be written to', async () => {
  const account = await database.account();
  await paid(account, '2026-11-01T12:00:00Z');
  const exporting = (dir: string, settings: Record<string, string> = {}) =>
    serviceLine(
      { DATABASE_URL: database.url(), ...settings },
      ...['invoices', 'export', '--month', '2026-11', '--dir', dir],
    );
  const dir = join(home, 'of the settings');
  expect((await exporting(dir)).err).toContain('Set SELLER_NAME');
  const settings = {
    ...{ SELLER_NAME: 'Poczta', SELLER_NIP: seller.nip, SELLER_STREET: 'x 1', SELLER_POSTAL_CODE: '00-950' },
    ...{ SELLER_CITY: 'Łódź', INVOICE_KIND: 'ZAL', INVOICE_NUMBER: 'P/{month}/{year}/{n}' },
  };
  await writeFile(join(home, 'file'), '');
  expect((await exporting(join(home, 'file'), settings)).err).toContain(
    '--dir: cannot be written to (EEXIST)',
  );
  expect(await exporting(dir, settings)).toMatchObject({ code: 0, err: '' });
  const table = parse<Record<string, string>>(await readFile(join(dir, '2026-11.csv')), { columns: true });
  expect(table).toMatchObject([
    { kind: 'ZAL', number: expect.stringMatching(/^P\/\d\d\/\d{4}\/1$/) as string },
  ]);
  expect(await readFile(join(dir, `${table[0]!['document']}.xml`), 'utf8')).toContain(
    '<Nazwa>Poczta</Nazwa>',
  );
  expect((await run('invoices', '--help')).out).toContain('this service issues none');
});

test('company data are changed in part, and shown', async () => {
  const account = await database.account();
  const set = ['accounts', 'company', '--account', account];
  expect((await no(...set, '--kind', 'company', '--nip', '7811767696')).message).toContain(
    '--name: is missing',
  );
  const whole = ['--name', 'Jan', '--street', 'Rynek 1', '--postal-code', '30-001', '--city', 'Kraków'];
  expect(await ok(...set, '--kind', 'consumer', ...whole)).toMatchObject({
    nip: null,
    postal_code: '30-001',
  });
  expect((await no(...set, '--kind', 'company', '--nip', '7811767697')).message).toContain('--nip');
  await ok(...set, '--kind', 'company', '--nip', '7811767696');
  expect(await database.lastAudit(account)).toMatchObject({ details: { fields: ['kind', 'nip'] } });
  expect(await ok('accounts', 'show', '--account', account)).toMatchObject({ company: { name: 'Jan' } });
});
