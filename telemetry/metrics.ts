import { Counter, Histogram, Registry } from 'prom-client';

/** What this process counts and measures, whatever parts of the service run in it. */
export const registry = new Registry();

/** From a submit at once to a delivery when the phone is switched on days later. */
export const WAIT_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 21_600, 86_400];
// From a few milliseconds to the longest answer the API gives.
const ANSWER_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * A counter of this process.
 * @param zero labels with which it is shown at 0 from the start of the process, where their values are a closed list: Prometheus sees no
 *   increase in the first value of what was not there before
 */
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

/** A histogram of seconds of this process. */
export function histogram<Label extends string = never>(
  name: string,
  help: string,
  labelNames: Label[] = [],
  buckets = ANSWER_SECONDS,
): Histogram<Label> {
  return new Histogram({ name, help, labelNames, buckets, registers: [registry] });
}
