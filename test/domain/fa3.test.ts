import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { buildRawXmlString } from 'ksef-client-ts';
import { describe, expect, test } from 'vitest';
import { type Correction, fa3, type InvoiceDocument } from '../../domain/fa3.ts';
import type { Buyer, Seller } from '../../domain/parties.ts';
import { netOfReversal, type Price, withVat } from '../../domain/vat.ts';
import { fa3Schema, faultsOf } from '../support/fa3.ts';

const seller: Seller = {
  ...{ name: 'Goniec sp. z o.o.', nip: '5252344078', street: 'ul. Żółwia 1', postalCode: '00-950' },
  ...{ city: 'Warszawa', iban: 'PL61109010140000071219812874' },
};
const company: Buyer = {
  ...{
    kind: 'company',
    nip: '7811767696',
    name: 'Kwiaty',
    street: 'Rynek 2/3',
    postalCode: '30-001',
    city: 'Kraków',
  },
};
const consumer: Buyer = { ...company, kind: 'consumer', nip: null, name: 'Łucja Żądło-Ćwięk' };
const topUp: InvoiceDocument = {
  ...{
    id: 'pay_1',
    accountId: 'cl_1',
    subjectId: 'pay_1',
    kind: 'VAT',
    number: 'GON/2026/1',
    ksefNumber: null,
  },
  ...{ buyer: company, exportedAt: new Date('2026-12-01T08:00:00Z'), at: new Date('2026-11-30T23:30:00Z') },
  ...{ price: withVat(5_000), method: 'card', statement: null, correction: null },
};
const statement: InvoiceDocument = {
  ...{ ...topUp, id: 'st_1', subjectId: 'st_1', method: null },
  statement: { month: '2026-02', dueAt: new Date('2026-03-15T00:00:00Z') },
};
const refund: Correction = {
  ...{ kind: 'refund', isReturned: false, before: topUp.price },
  original: { number: topUp.number, ksefNumber: null, exportedAt: topUp.exportedAt, at: topUp.at },
};
const correction: InvoiceDocument = {
  ...{ ...topUp, id: 'pay_1.re_1', kind: 'KOR', number: 'GON/2026/2', method: null, correction: refund },
  price: { netGrosze: -1_000, vatGrosze: -230, grossGrosze: -1_230 },
};
const inKsef = { ...refund.original, ksefNumber: '5265877635-20250826-0100001AF629-AF' };

const named = (name: string): InvoiceDocument => ({
  ...topUp,
  buyer: { ...company, name, street: name, city: [...name].slice(0, 100).join('') },
});

const DOCUMENTS: Record<string, InvoiceDocument> = {
  'a top-up by card': topUp,
  ...{ 'by BLIK': { ...topUp, method: 'blik' }, 'by Przelewy24': { ...topUp, method: 'p24' } },
  ...{ 'by something else': { ...topUp, method: null }, 'of a consumer': { ...topUp, buyer: consumer } },
  ...{ 'an advance': { ...topUp, kind: 'ZAL' }, 'a statement': statement },
  'a correction': correction,
  'of one in KSeF': { ...correction, correction: { ...refund, original: inKsef } },
  'of an advance': { ...correction, kind: 'KOR_ZAL' },
  'by a dispute that was won': {
    ...{ ...correction, correction: { ...refund, kind: 'dispute', isReturned: true } },
    price: withVat(1),
  },
  ...{
    'with markup': named(`<b>&amp; "A" & 'B' ]]> <!-- -->`),
    'in Polish': named('Zażółć gęślą jaźń, ŁÓDŹ'),
  },
  ...{ 'of 200 characters': named('Ż'.repeat(200)), 'of 200 emoji': named('🌷'.repeat(200)) },
  'of 100,000 PLN': { ...topUp, price: withVat(10_000_000) },
};

const xmlOf = (document: InvoiceDocument, by = seller) =>
  buildRawXmlString(fa3(document, by), { pretty: true });

describe('by the published schema', () => {
  test('which is the one of the Ministry', async () => {
    const digest = createHash('sha256')
      .update(await fa3Schema())
      .digest('hex');
    expect(digest).toBe('b646b6b525f51adf1bb2545f111fc8ca6e7aa6dd2f98948f1667d3695c06d958');
  });

  test('all documents are valid, and what is not is found', async () => {
    const written = Object.fromEntries(
      Object.entries(DOCUMENTS).map(([name, document]) => [`${name}.xml`, xmlOf(document)] as const),
    );
    const withoutAccount = xmlOf(statement, { ...seller, iban: null });
    const broken = xmlOf({ ...topUp, buyer: { ...company, nip: '0000000000' } });
    const faults = await faultsOf({ ...written, 'a.xml': withoutAccount, 'b.xml': broken });
    expect(faults.filter((fault) => !fault.startsWith('b.xml'))).toEqual([]);
    expect(faults.join()).toContain("'0000000000' is not accepted by the pattern");
  });
});

test('names are written as they are', () => {
  const name = `<b>&amp; "A" & 'B' ]]> Ż 🌷`;
  const [, written = ''] = /<Nazwa>(.*)<\/Nazwa>[^]*<Nazwa>(.*)<\/Nazwa>/.exec(xmlOf(named(name)))!.slice(1);
  const entities: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };
  expect(written.replace(/&(\w+);/g, (_, entity: string) => entities[entity]!)).toBe(name);
});

test('what is told of times: a payment of another day, a month, a due date', () => {
  const { Fa } = fa3(topUp, seller).Faktura;
  expect(Fa).toMatchObject({ P_1: '2026-12-01', Platnosc: { Zaplacono: 1, DataZaplaty: '2026-12-01' } });
  expect(Fa).not.toHaveProperty('P_6');
  const earlier = fa3({ ...topUp, at: new Date('2026-11-30T22:59:59Z') }, seller).Faktura.Fa;
  expect(earlier).toMatchObject({ P_1: '2026-12-01', P_6: '2026-11-30' });
  expect(fa3(statement, seller).Faktura.Fa).toMatchObject({
    OkresFa: { P_6_Od: '2026-02-01', P_6_Do: '2026-02-28' },
    Platnosc: { TerminPlatnosci: { Termin: '2026-03-15' }, RachunekBankowy: { NrRB: seller.iban } },
  });
});

const grosze = (text: string): number => Math.round(Number(text) * 100);
const price = (netGrosze: number, grossGrosze: number): Price => ({
  ...{ netGrosze, grossGrosze },
  vatGrosze: grossGrosze - netGrosze,
});

/** The amounts in a document: its sums, and what each row comes to. */
function amountsIn(document: InvoiceDocument) {
  const { Fa } = fa3(document, seller).Faktura;
  const rows = 'FaWiersz' in Fa ? Fa.FaWiersz.map(({ P_11 }) => P_11) : null;
  const ordered =
    'Zamowienie' in Fa ? Fa.Zamowienie.ZamowienieWiersz.map(({ P_11NettoZ }) => P_11NettoZ) : [];
  expect(grosze(Fa.P_13_1) + grosze(Fa.P_14_1)).toBe(grosze(Fa.P_15));
  return { price: price(grosze(Fa.P_13_1), grosze(Fa.P_15)), rows: (rows ?? ordered).map(grosze) };
}

test('amounts agree with the payment, and all that goes back with all that was paid', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 5_000, max: 10_000_000 }),
      fc.array(fc.integer({ min: 1, max: 5_000_000 }), { maxLength: 5 }),
      fc.constantFrom('VAT', 'ZAL'),
      (net, parts, kind) => {
        const paid = withVat(net);
        expect(amountsIn({ ...topUp, kind, price: paid })).toEqual({ price: paid, rows: [net] });
        let gone = price(0, 0);
        for (const part of [...parts, paid.grossGrosze]) {
          const gross = Math.min(part, paid.grossGrosze - gone.grossGrosze);
          const back = price(0 - netOfReversal(paid, gone, gross), 0 - gross);
          const before = price(paid.netGrosze - gone.netGrosze, paid.grossGrosze - gone.grossGrosze);
          const after = before.netGrosze + back.netGrosze;
          const of = kind === 'ZAL' ? 'KOR_ZAL' : 'KOR';
          expect(
            amountsIn({ ...correction, kind: of, price: back, correction: { ...refund, before } }),
          ).toEqual({ price: back, rows: [before.netGrosze, after] });
          gone = price(gone.netGrosze - back.netGrosze, gone.grossGrosze - back.grossGrosze);
        }
        expect(gone).toEqual(paid);
      },
    ),
  );
});
