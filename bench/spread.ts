/** Where half, nearly all and all of the values lie. */
export interface Spread {
  median: number;
  p99: number;
  last: number;
}

/** Median, 99th percentile and maximum. */
export function spread(values: number[]): Spread {
  return { median: median(values), p99: quantile(values, 0.99), last: quantile(values, 1) };
}

/** The value below which half of all lie. */
export function median(values: number[]): number {
  return quantile(values, 0.5);
}

/** The value below which a share of all lies. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}
