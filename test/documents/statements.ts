import { statementPdf } from '../../documents/statement.ts';
import type { Typesetter } from '../../documents/typst.ts';
import type { Buyer, Seller } from '../../domain/parties.ts';
import type { StatementFacts, StatementLine } from '../../domain/statements.ts';

export const SELLER: Seller = {
  name: 'Goniec sp. z o.o.',
  nip: '1234563218',
  street: 'ul. Prosta 1',
  postalCode: '00-001',
  city: 'Warszawa',
  iban: 'PL61109010140000071219812874',
};
export const BUYER: Buyer = {
  kind: 'company',
  name: 'Apteka „Żółw”',
  nip: '5260250274',
  street: 'ul. Ćmielów 1/2',
  postalCode: '90-950',
  city: 'Łódź',
};
export const FACTS: StatementFacts = {
  id: 'st_01kbabcdefghjkmnpqrstvwxyz',
  accountName: 'Apteka',
  buyer: BUYER,
  month: '2026-11',
  amountGrosze: 123_450,
  issuedAt: new Date('2026-11-30T23:11:00Z'),
  dueAt: new Date('2026-12-14T23:11:00Z'),
};

export function line(of: Partial<StatementLine> = {}): StatementLine {
  const usual = { kind: 'charge', product: 'sms', country: 'PL', priority: false } as const;
  return { ...usual, unitGrosze: 15, count: 2, units: 3, netGrosze: 45, ...of };
}

interface Wish {
  facts?: Partial<StatementFacts>;
  lines?: readonly StatementLine[];
  seller?: Seller | null;
}

export function typeset(
  typesetter: Typesetter,
  { facts = {}, lines = [line()], seller = SELLER }: Wish = {},
): Buffer {
  return statementPdf(typesetter, { ...FACTS, ...facts }, lines, seller);
}

/** Names that would do something if they were markup, break the layout, or have no glyphs; and how they are shown. */
export const HOSTILE: readonly (readonly [name: string, shown: string])[] = [
  ['#set text(red) #panic("x") #[', '#set text(red) #panic("x") #['],
  ['$x^2$ \\ \\u{41} *a* _b_ `c` <d> @e', '$x^2$ \\ \\u{41} *a* _b_ `c` <d> @e'],
  ['"} #{ sys.inputs', '"} #{ sys.inputs'],
  ['= Faktura // /* -- ~', '= Faktura // /* -- ~'],
  ['Zażółć gęślą jaźń', 'Zażółć gęślą jaźń'],
  ['Sklep 😀🎉漢', 'Sklep 😀��'],
  ['a\u202Eb\u200Dc\u0007d\ne', 'abc�d e'],
  ['שלום', 'שלום'],
  ['W'.repeat(200), 'W'.repeat(200)],
];
