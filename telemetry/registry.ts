import { type Counter, Registry } from 'prom-client';

/** What this process counts and measures, whatever parts of the service run in it. */
export const registry = new Registry();

/** From a few milliseconds to the longest answer the API gives. */
export const ANSWER_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** From a submit at once to a delivery when the phone is switched on days later. */
export const WAIT_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 21_600, 86_400];

/**
 * Shows a counter at 0 for every value of a label with a closed list, from the start of the process: Prometheus sees no increase in the
 * first value of what was not there before.
 */
export function startAtZero<Label extends string>(
  counter: Counter<Label>,
  label: Label,
  values: readonly string[],
): void {
  for (const value of values) counter.inc({ [label]: value } as Record<Label, string>, 0);
}
