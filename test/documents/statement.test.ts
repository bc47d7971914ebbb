import { beforeAll, describe, expect, it } from 'vitest';
import { openTypesetter, type Typesetter } from '../../documents/typst.ts';
import { readPdf } from '../support/pdf.ts';
import { BUYER, FACTS, HOSTILE, line, SELLER, typeset } from './statements.ts';

let typesetter: Typesetter;
beforeAll(async () => {
  typesetter = await openTypesetter();
});

describe('a statement as PDF', () => {
  it('reads from the title over the parties and the payment to the lines and their sum', async () => {
    const lines = [
      line({ kind: 'refund', netGrosze: -15, count: 1, units: 1 }),
      line({ product: 'lookup', country: null, unitGrosze: 5, count: 1234, units: 1234, netGrosze: 6170 }),
      line({ product: 'email', country: null, unitGrosze: 1, count: 2, units: 7, netGrosze: 7 }),
      line({ country: null, unitGrosze: 30 }),
      line({ country: 'DE', unitGrosze: 60, priority: true, netGrosze: 180 }),
      line({ netGrosze: 12_345_600 }),
    ];
    const { text, title, marked, pages } = await readPdf(typeset(typesetter, { lines }));
    expect({ title, marked, pages }).toEqual({
      title: 'Rozliczenie za listopad 2026',
      marked: true,
      pages: 1,
    });
    const parts = [
      ...['Rozliczenie za listopad 2026', 'Zestawienie nie jest fakturą.'],
      ...['Sprzedawca', SELLER.name, SELLER.street, '00-001 Warszawa', 'NIP 1234563218'],
      ...['Nabywca', BUYER.name, BUYER.street, '90-950 Łódź', 'NIP 5260250274'],
      ...[`Numer: ${FACTS.id}`, 'Wystawiono: 01.12.2026', 'Do zapłaty: 1518,44 zł'],
      'Termin płatności: 15.12.2026, godz. 00:11 czasu polskiego',
      ...[`Tytuł płatności: ${FACTS.id}`, 'Rachunek: PL61 1090 1014 0000 0712 1981 2874'],
      'Usługa Liczba Jednostki Cena netto, zł Netto, zł',
      'SMS, Polska 2 3 0,15 123 456,00',
      'SMS, Niemcy, priorytet 2 3 0,60 1,80',
      'SMS, numer bez kraju 2 3 0,30 0,45',
      'E-mail 2 7 0,01 0,07',
      'Sprawdzenie numeru 1234 1234 0,05 61,70',
      'Zwrot: SMS, Polska 1 1 0,15 -0,15',
      ...['Razem netto 1234,50', 'VAT 23% 283,94', 'Razem brutto 1518,44'],
      `${FACTS.id} strona 1 z 1`,
    ];
    let from = 0;
    for (const part of parts) {
      const at = text.indexOf(part, from);
      expect(at, `${part} in ${text.slice(from)}`).toBeGreaterThanOrEqual(0);
      from = at + part.length;
    }
  });

  it('has the structure that readers go by', async () => {
    const { roles } = await readPdf(typeset(typesetter, { lines: [line(), line({ product: 'mms' })] }));
    const count = (role: string) => roles.filter((one) => one === role).length;
    expect([count('H1'), count('H2'), count('Table'), count('TH'), count('TR')]).toEqual([1, 2, 1, 5, 6]);
  });

  it('is the same bytes, whoever makes it again, and others for another statement', async () => {
    const again = await openTypesetter();
    expect(typeset(again).equals(typeset(typesetter))).toBe(true);
    expect(typeset(again, { facts: { month: '2026-10' } }).equals(typeset(typesetter))).toBe(false);
  });

  it('goes on over pages, each with the headings of the table', async () => {
    const lines = Array.from({ length: 150 }, (_, n) => line({ unitGrosze: n + 1 }));
    const { pages, text } = await readPdf(typeset(typesetter, { lines }));
    expect(pages).toBeGreaterThan(3);
    expect(text.match(/Usługa Liczba Jednostki/g)).toHaveLength(pages);
    expect(text.match(/Razem brutto/g)).toHaveLength(1);
    expect(text).toContain(`strona ${pages} z ${pages}`);
  });

  it('asks for nothing where nothing is owed, and names no seller and company that are not known', async () => {
    const facts = { amountGrosze: -100, buyer: null };
    const { text } = await readPdf(typeset(typesetter, { facts, lines: [], seller: null }));
    expect(text).toContain('Nabywca Apteka');
    expect(text).toContain('Do zapłaty: 0,00 zł');
    expect(text).not.toMatch(/Sprzedawca|NIP|Termin|Tytuł|Rachunek/);
  });

  it.each(HOSTILE)('shows names as text alone: %j', async (name, shown) => {
    const plain = await readPdf(typeset(typesetter));
    const parties = { facts: { buyer: { ...BUYER, name } }, seller: { ...SELLER, name } };
    const { text, roles, pages } = await readPdf(typeset(typesetter, parties));
    expect(text.replaceAll(' ', '').split(shown.replaceAll(' ', ''))).toHaveLength(3);
    expect({ roles, pages }).toEqual({ roles: plain.roles, pages: 1 });
  });
});
