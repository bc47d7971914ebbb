// v2.3.0, Limits, Prices: "VAT of 23% is added to top-ups".
export const VAT_PERCENT = 23;

/** A price with its tax, in grosze. */
export interface Price {
  netGrosze: number;
  vatGrosze: number;
  grossGrosze: number;
}

/** Adds VAT to a net amount in grosze, half a grosz up: 50.00 → 61.50. */
export function withVat(netGrosze: number): Price {
  const vatGrosze = Math.floor((netGrosze * VAT_PERCENT + 50) / 100);
  return { netGrosze, vatGrosze, grossGrosze: netGrosze + vatGrosze };
}

/**
 * The net amount of a part of a paid price that goes back. All parts sum to the whole net amount, however the gross one is split.
 * @param before what went back already
 * @param grosze gross; more than what is left counts as all of it
 */
export function netOfReversal(
  paid: { netGrosze: number; grossGrosze: number },
  before: { netGrosze: number; grossGrosze: number },
  grosze: number,
): number {
  const gone = Math.min(before.grossGrosze + grosze, paid.grossGrosze);
  // BigInt: the product of two amounts may exceed 2^53.
  const net = Number((BigInt(paid.netGrosze) * BigInt(gone)) / BigInt(paid.grossGrosze));
  return Math.max(0, net - before.netGrosze);
}
