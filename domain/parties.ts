interface Party {
  name: string;
  /** With the number. */
  street: string;
  postalCode: string;
  city: string;
}

export const BUYER_KINDS = ['company', 'consumer'] as const;

/** Who buys, for the operator's invoices: a company in Poland with its NIP, or a consumer. */
export interface Buyer extends Party {
  kind: (typeof BUYER_KINDS)[number];
  /** Ten digits; null of a consumer. */
  nip: string | null;
}

/** The operator of the service, as its documents name it. */
export interface Seller extends Party {
  nip: string;
  /** The account for transfers, without spaces; null: documents name none. */
  iban: string | null;
}

// As the schema of FA(3) has it: the first three digits are a tax office's.
const NIP = /^[1-9](?:[0-9][1-9]|[1-9][0-9])[0-9]{7}$/;
const NIP_WEIGHTS = [6, 5, 7, 2, 3, 4, 5, 6, 7];

/** Whether ten digits are a NIP, by its checksum. */
export function isNip(digits: string): boolean {
  if (!NIP.test(digits)) return false;
  const sum = NIP_WEIGHTS.reduce((total, weight, place) => total + weight * Number(digits[place]), 0);
  return sum % 11 === Number(digits[9]);
}
