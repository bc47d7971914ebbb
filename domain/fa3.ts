import { addDays, polishDay } from './calendar.ts';
import type { Buyer, Seller } from './parties.ts';
import type { Price } from './vat.ts';

/** Kinds of the schema. Whether a top-up is a sale (VAT) or an advance (ZAL) the operator decides. */
export const TOP_UP_KINDS = ['VAT', 'ZAL'] as const;
export type TopUpKind = (typeof TOP_UP_KINDS)[number];

/** What became of money after it was paid: a refund or dispute took it back, or it came back after all. */
export interface Correction {
  kind: 'refund' | 'dispute';
  isReturned: boolean;
  /** The price as it was before. */
  before: Price;
  original: { number: string; ksefNumber: string | null; exportedAt: Date; at: Date };
}

/** A document for the operator's accounting: of a top-up, a change of one, or a statement. */
export interface InvoiceDocument {
  id: string;
  accountId: string;
  /** The payment or statement. */
  subjectId: string;
  kind: TopUpKind | 'KOR' | 'KOR_ZAL';
  number: string;
  ksefNumber: string | null;
  buyer: Buyer;
  exportedAt: Date;
  /** When it was paid, taken back, or issued. */
  at: Date;
  /** Of a correction the difference. */
  price: Price;
  /** Of a payment; null: not known, or no payment. */
  method: string | null;
  statement: { month: string; dueAt: Date } | null;
  correction: Correction | null;
}

const NAMESPACE = 'http://crd.gov.pl/wzor/2025/06/25/13775/';
const YES = 1;
const NO = 2;
const RATE = '23';
const CARD = 2;
const TRANSFER = 6;
const MOBILE = 7;
const METHODS: Readonly<Record<string, number>> = { card: CARD, p24: TRANSFER, blik: MOBILE };

const REASONS = {
  refund: { taken: 'Zwrot płatności', returned: 'Zwrot płatności nie doszedł do skutku' },
  dispute: { taken: 'Reklamacja płatności u jej wystawcy', returned: 'Reklamacja płatności odrzucona' },
} as const;

/** Grosze as an amount of the schema, such as `-12.30`. */
export const amount = (grosze: number): string => (grosze / 100).toFixed(2);
const dayOf = (at: Date): string => polishDay(at.getTime());

/** The document as an invoice by FA(3) of the Ministry of Finance: elements by their names, in the order of the schema. */
export function fa3(document: InvoiceDocument, seller: Seller) {
  const { accountId, buyer, exportedAt } = document;
  const identity = buyer.nip === null ? { BrakID: YES } : { NIP: buyer.nip };
  return {
    Faktura: {
      '@_xmlns': NAMESPACE,
      Naglowek: {
        KodFormularza: { '@_kodSystemowy': 'FA (3)', '@_wersjaSchemy': '1-0E', '#text': 'FA' },
        WariantFormularza: 3,
        DataWytworzeniaFa: exportedAt.toISOString(),
        SystemInfo: 'Goniec',
      },
      Podmiot1: { DaneIdentyfikacyjne: { NIP: seller.nip, Nazwa: seller.name }, Adres: addressOf(seller) },
      Podmiot2: {
        DaneIdentyfikacyjne: { ...identity, Nazwa: buyer.name },
        Adres: addressOf(buyer),
        NrKlienta: accountId,
        JST: NO,
        GV: NO,
      },
      Fa: invoice(document, seller),
    },
  };
}

function addressOf({ street, postalCode, city }: Buyer | Seller) {
  return { KodKraju: 'PL', AdresL1: street, AdresL2: `${postalCode} ${city}` };
}

function invoice(document: InvoiceDocument, { iban }: Seller) {
  const { id, number, kind, exportedAt, price, correction } = document;
  const isAdvance = kind === 'ZAL' || kind === 'KOR_ZAL';
  return {
    KodWaluty: 'PLN',
    P_1: dayOf(exportedAt),
    P_2: number,
    ...timeOf(document),
    P_13_1: amount(price.netGrosze),
    P_14_1: amount(price.vatGrosze),
    P_15: amount(price.grossGrosze),
    Adnotacje: {
      ...{ P_16: NO, P_17: NO, P_18: NO, P_18A: NO },
      ...{ Zwolnienie: { P_19N: YES }, NoweSrodkiTransportu: { P_22N: YES }, P_23: NO },
      PMarzy: { P_PMarzyN: YES },
    },
    RodzajFaktury: kind,
    ...(correction === null ? {} : corrected(correction, isAdvance)),
    DodatkowyOpis: { Klucz: 'Identyfikator', Wartosc: id },
    ...(isAdvance ? {} : { FaWiersz: rowsOf(document).map(line) }),
    ...(correction === null ? { Platnosc: payment(document, iban) } : {}),
    ...(isAdvance ? { Zamowienie: order(document) } : {}),
  };
}

/** The day of payment, where it is not that of issue, or the month of a statement. */
function timeOf({ exportedAt, at, statement, correction }: InvoiceDocument) {
  if (statement !== null) {
    const first = `${statement.month}-01`;
    const next = `${addDays(first, 31).slice(0, 7)}-01`;
    return { OkresFa: { P_6_Od: first, P_6_Do: addDays(next, -1) } };
  }
  const paid = dayOf(correction?.original.at ?? at);
  return paid === dayOf(exportedAt) ? {} : { P_6: paid };
}

function corrected({ kind, isReturned, before, original }: Correction, isAdvance: boolean) {
  const { number, ksefNumber, exportedAt } = original;
  return {
    PrzyczynaKorekty: REASONS[kind][isReturned ? 'returned' : 'taken'],
    DaneFaKorygowanej: {
      DataWystFaKorygowanej: dayOf(exportedAt),
      NrFaKorygowanej: number,
      ...(ksefNumber === null ? { NrKSeFN: YES } : { NrKSeF: YES, NrKSeFFaKorygowanej: ksefNumber }),
    },
    ...(isAdvance ? { P_15ZK: amount(before.grossGrosze) } : {}),
  };
}

interface Row {
  price: Price;
  name: string;
  /** Of a correction: as it was. */
  isBefore: boolean;
}

/** What is sold; of a correction as it was and as it is now. */
function rowsOf({ price, statement, correction }: InvoiceDocument): Row[] {
  const name =
    statement === null
      ? 'Usługi wysyłania wiadomości: doładowanie konta'
      : `Usługi wysyłania wiadomości: ${statement.month}`;
  if (correction === null) return [{ price, name, isBefore: false }];
  const { before } = correction;
  return [
    { price: before, name, isBefore: true },
    { price: sum(before, price), name, isBefore: false },
  ];
}

function sum(one: Price, other: Price): Price {
  return {
    netGrosze: one.netGrosze + other.netGrosze,
    vatGrosze: one.vatGrosze + other.vatGrosze,
    grossGrosze: one.grossGrosze + other.grossGrosze,
  };
}

function line({ price: { netGrosze }, name, isBefore }: Row, index: number) {
  return {
    ...{ NrWierszaFa: index + 1, P_7: name, P_8A: 'szt.', P_8B: 1 },
    ...{ P_9A: amount(netGrosze), P_11: amount(netGrosze), P_12: RATE },
    ...(isBefore ? { StanPrzed: YES } : {}),
  };
}

/** What an advance is paid for. */
function order(document: InvoiceDocument) {
  const rows = rowsOf(document);
  return {
    WartoscZamowienia: amount(rows.at(-1)!.price.grossGrosze),
    ZamowienieWiersz: rows.map(({ price: { netGrosze, vatGrosze }, name, isBefore }, index) => ({
      ...{ NrWierszaZam: index + 1, P_7Z: name, P_8AZ: 'szt.', P_8BZ: 1, P_9AZ: amount(netGrosze) },
      ...{ P_11NettoZ: amount(netGrosze), P_11VatZ: amount(vatGrosze), P_12Z: RATE },
      ...(isBefore ? { StanPrzedZ: YES } : {}),
    })),
  };
}

function payment({ at, method, statement }: InvoiceDocument, iban: string | null) {
  if (statement !== null)
    return {
      TerminPlatnosci: { Termin: dayOf(statement.dueAt) },
      FormaPlatnosci: TRANSFER,
      ...(iban === null ? {} : { RachunekBankowy: { NrRB: iban } }),
    };
  const form = METHODS[method ?? ''];
  return { Zaplacono: YES, DataZaplaty: dayOf(at), ...(form === undefined ? {} : { FormaPlatnosci: form }) };
}
