import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../db/ids.ts';
import { database, newAccount } from '../../support/factories.ts';
import { newPerson, type PanelUnderTest, startPanel } from '../../support/panel.ts';

let panel: PanelUnderTest;
beforeAll(async () => {
  panel = await startPanel();
});
afterAll(() => panel.api.stop());

interface Issued {
  month: string;
  grosze: number;
  /** Days from now. */
  due: number;
  paid?: boolean;
  documents?: { pdf: string; csv: string };
}

async function issued(
  account: string,
  { month, grosze, due, paid = false, documents }: Issued,
): Promise<string> {
  const id = newId('st');
  await database()`
    insert into statements (id, account_id, month, amount_grosze, due_at, paid_at)
    values (${id}, ${account}, to_date(${month}, 'YYYY-MM'), ${grosze}, now() + make_interval(days => ${due}),
            ${paid ? new Date() : null})`;
  if (documents !== undefined)
    await database()`
      insert into statement_documents (statement_id, account_name, pdf, csv, made_at)
      values (${id}, 'Test', ${Buffer.from(documents.pdf)}, ${Buffer.from(documents.csv)}, now())`;
  return id;
}

async function person(role: 'owner' | 'billing' | 'reader', billing: 'prepaid' | 'postpaid' = 'postpaid') {
  const { id } = await newAccount({ billing });
  return await newPerson(panel, role, id);
}

/** The text of a page, blanks single. */
const textOf = (html: string) =>
  html
    .slice(html.indexOf('<main'))
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');

describe('the statements of an account', () => {
  it('are listed with what is net, gross, due and paid, the latest month first', async () => {
    const { browser, account } = await person('billing');
    expect((await browser.get('/panel/statements')).text).toContain('Nie ma jeszcze rozliczeń.');
    const paid = await issued(account, { month: '2026-07', grosze: 10_000, due: -60, paid: true });
    const overdue = await issued(account, { month: '2026-08', grosze: 10_001, due: -1 });
    const due = await issued(account, { month: '2026-09', grosze: 10_002, due: 1 });
    const text = textOf((await browser.get('/panel/statements')).text);
    const rows = [
      ['wrzesień 2026', due, '100,02 zł', '123,02 zł', 'do zapłaty'],
      ['sierpień 2026', overdue, '100,01 zł', '123,01 zł', 'po terminie'],
      ['lipiec 2026', paid, '100,00 zł', '123,00 zł', 'zapłacone'],
    ];
    let from = text.indexOf('Pliki');
    for (const shown of rows.flat()) {
      const at = text.indexOf(shown, from);
      expect(at, `${shown} in ${text}`).toBeGreaterThan(from);
      from = at;
    }
  });

  it('are downloaded once their documents are made, by their own account alone', async () => {
    const { browser, account } = await person('owner');
    const stranger = await person('owner');
    const documents = { pdf: '%PDF-1.7 ś', csv: 'day,type\r\n2026-08-01,charge\r\n' };
    const id = await issued(account, { month: '2026-08', grosze: 1, due: 1, documents });
    const early = await issued(account, { month: '2026-09', grosze: 1, due: 1 });
    const { text } = await browser.get('/panel/statements');
    const types = { pdf: 'application/pdf', csv: 'text/csv; charset=utf-8' } as const;
    for (const format of ['pdf', 'csv'] as const) {
      const path = `/panel/statements/${id}.${format}`;
      expect(text).toContain(`href="${path}"`);
      const seen = await browser.get(path);
      expect(seen).toMatchObject({ status: 200, text: documents[format] });
      expect(Object.fromEntries(seen.headers)).toMatchObject({
        ...{ 'content-type': types[format], 'content-disposition': `attachment; filename="${id}.${format}"` },
        ...{ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' },
      });
      expect((await stranger.browser.get(path)).status).toBe(404);
      expect((await browser.get(`/panel/statements/${early}.${format}`)).status).toBe(404);
    }
    expect(text).not.toContain(`${early}.`);
    for (const file of [id, `${id}.exe`, `${id}.`, `${id}.toString`, '%00.pdf', `..%2F${id}.pdf`])
      expect([file, (await browser.get(`/panel/statements/${file}`)).status]).toEqual([file, 404]);
  });
});

describe('every page', () => {
  it.each([
    [14, 'notice', 'Rozliczenie za październik 2026: 123,46 zł brutto do zapłaty do'],
    [-1, 'summary', 'Rozliczenie za październik 2026: 123,46 zł brutto, termin płatności minął'],
  ])('says what is to be paid, from the day of issue: due in %i days', async (due, style, sentence) => {
    const { browser, account } = await person('owner');
    await issued(account, { month: '2026-09', grosze: 10_037, due: 30 });
    await issued(account, { month: '2026-10', grosze: 10_037, due });
    for (const page of ['/panel/overview', '/panel/reports', '/panel/nothing']) {
      const { text } = await browser.get(page);
      expect(textOf(text)).toContain(sentence);
      expect(text).toContain(`<p class="${style}">`);
      expect(text).toContain('<a href="/panel/statements">Zobacz rozliczenia</a>');
    }
    const english = await browser.get('/panel/overview', { 'accept-language': 'en' });
    expect(textOf(english.text)).toContain('Statement for October 2026:');
  });

  it('says so to those who may not open the statements, without the link', async () => {
    const { browser, account } = await person('reader');
    await issued(account, { month: '2026-10', grosze: 10_037, due: 1 });
    const { text } = await browser.get('/panel/overview');
    expect(text).toContain('Rozliczenie za październik 2026');
    expect(text).not.toContain('/panel/statements');
  });

  it('says nothing where all is paid, nor to an account that is prepaid now', async () => {
    const paid = await person('owner');
    await issued(paid.account, { month: '2026-10', grosze: 100, due: -1, paid: true });
    const prepaid = await person('owner', 'prepaid');
    await issued(prepaid.account, { month: '2026-10', grosze: 100, due: -1 });
    for (const { browser } of [paid, prepaid])
      expect((await browser.get('/panel/overview')).text).not.toContain('Rozliczenie za');
  });
});
