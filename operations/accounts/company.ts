import { readBuyer, writeBuyer } from '../../db/money/companyProfiles.ts';
import { PAYERS, type PersonActor, type StaffActor } from '../../domain/actor.ts';
import { type Buyer, BUYER_KINDS, isNip } from '../../domain/parties.ts';
import { type Refusal, Refused, StaffRefused } from '../../domain/refusals.ts';
import { canonicalText, firstUnseen } from '../../domain/text.ts';
import { recorded } from '../staff.ts';
import { findOpenAccountForUpdate } from './accounts.ts';

export const COMPANY_FIELDS = ['kind', 'nip', 'name', 'street', 'postal_code', 'city'] as const;

/** Who buys, as typed; what is absent stays. */
export type TypedCompany = Partial<Record<(typeof COMPANY_FIELDS)[number], string>>;

interface CompanyInput {
  account: string;
  given: TypedCompany;
}

const LENGTHS = { name: 200, street: 200, city: 100 } as const;

/** Changes who buys, for the invoices to come. The record names the changed fields alone. @throws Refused naming the field, StaffRefused */
export const changeCompany = recorded(
  'accounts company',
  async (sql, { account, given }: CompanyInput, { actor }: { actor: StaffActor | PersonActor }) => {
    const mayPay = actor.kind === 'staff' || (actor.accountId === account && PAYERS.includes(actor.role));
    if (!mayPay) throw new StaffRefused({ reason: 'account_missing', account });
    await findOpenAccountForUpdate(sql, account);
    const before = typedOf(await readBuyer(sql, account));
    const buyer = buyerOf({ ...before, ...given });
    const after = typedOf(buyer);
    const fields = COMPANY_FIELDS.filter((field) => after[field] !== before[field]);
    if (fields.length > 0) await writeBuyer(sql, account, buyer);
    return { data: buyer, account, details: { fields }, ...(fields.length === 0 ? { records: [] } : {}) };
  },
);

/** As its form shows it. */
export function typedOf(buyer: Buyer | null): TypedCompany {
  if (buyer === null) return {};
  const { kind, nip, name, street, postalCode, city } = buyer;
  return { kind, nip: nip ?? '', name, street, postal_code: postalCode, city };
}

function buyerOf(given: TypedCompany): Buyer {
  const kind = BUYER_KINDS.find((one) => one === given.kind);
  if (kind === undefined) throw refused({ reason: 'one_of', field: 'kind', values: BUYER_KINDS }, 'kind');
  return {
    kind,
    nip: kind === 'company' ? nipIn(given) : null,
    name: textIn(given, 'name'),
    street: textIn(given, 'street'),
    postalCode: postalCodeIn(given),
    city: textIn(given, 'city'),
  };
}

function nipIn(given: TypedCompany): string {
  const nip = required(given, 'nip')
    .toUpperCase()
    .replace(/^PL|[\s\p{Pd}]/gu, '');
  if (!isNip(nip)) throw refused({ reason: 'nip_malformed' }, 'nip');
  return nip;
}

function postalCodeIn(given: TypedCompany): string {
  const digits = required(given, 'postal_code').replace(/[\s\p{Pd}]/gu, '');
  if (!/^[0-9]{5}$/.test(digits)) throw refused({ reason: 'postal_code_malformed' }, 'postal_code');
  return `${digits.slice(0, 2)}-${digits.slice(2)}`;
}

function textIn(given: TypedCompany, field: keyof typeof LENGTHS): string {
  const text = required(given, field);
  const limit = LENGTHS[field];
  if ([...text].length > limit)
    throw refused({ reason: 'field_too_long', field, limit, unit: 'characters' }, field);
  // XML has no controls, and nobody expects an invoice to hide something.
  if (firstUnseen(text) !== null) throw refused({ reason: 'characters_forbidden', field }, field);
  return text;
}

/** A text on one line. */
function required(given: TypedCompany, field: keyof TypedCompany): string {
  const text = canonicalText(given[field] ?? '')
    .replace(/\s+/g, ' ')
    .trim();
  if (text === '') throw refused({ reason: 'field_missing', field }, field);
  return text;
}

function refused(refusal: Refusal, field: keyof TypedCompany): Refused {
  return new Refused(refusal, field);
}
