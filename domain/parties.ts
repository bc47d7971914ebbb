interface Party {
  name: string;
  /** With the number. */
  street: string;
  postalCode: string;
  city: string;
}

/** Who buys, for the operator's invoices: a company in Poland with its NIP, or a consumer. */
export interface Buyer extends Party {
  kind: 'company' | 'consumer';
  /** Ten digits; null of a consumer. */
  nip: string | null;
}

/** The operator of the service, as its documents name it. */
export interface Seller extends Party {
  nip: string;
  /** The account for transfers, without spaces; null: documents name none. */
  iban: string | null;
}

const NIP_WEIGHTS = [6, 5, 7, 2, 3, 4, 5, 6, 7];

/** Whether ten digits are a NIP, by its checksum. */
export function isNip(digits: string): boolean {
  if (!/^[0-9]{10}$/.test(digits) || digits === '0000000000') return false;
  const sum = NIP_WEIGHTS.reduce((total, weight, place) => total + weight * Number(digits[place]), 0);
  return sum % 11 === Number(digits[9]);
}
