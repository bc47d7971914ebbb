import { Counter, Histogram, Registry } from 'prom-client';

/** Metrics of this process, whichever parts of the service it runs. */
export const registry = new Registry();

/** From an immediate submit to a delivery days later. */
export const WAIT_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 21_600, 86_400];
// From a few milliseconds to the longest response of the API.
const ANSWER_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** @param zero labels of closed lists, exported as 0 from the start: Prometheus sees no increase in the first value of a new series */
export function counter<Label extends string>(
  name: string,
  help: string,
  labelNames: Label[],
  zero: readonly Record<Label, string>[] = [],
): Counter<Label> {
  const made = new Counter({ name, help, labelNames, registers: [registry] });
  for (const labels of zero) made.inc(labels, 0);
  return made;
}

/** In seconds. */
export function histogram<Label extends string = never>(
  name: string,
  help: string,
  labelNames: Label[] = [],
  buckets = ANSWER_SECONDS,
): Histogram<Label> {
  return new Histogram({ name, help, labelNames, buckets, registers: [registry] });
}
