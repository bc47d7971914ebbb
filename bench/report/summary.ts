import type { Results } from '../results.ts';
import { acceptCpuTable, acceptTable, batchTable, costTable, cpuTable, rateTable } from './compareTables.ts';
import { floodTable, growthTables, windowTable } from './growthTables.ts';
import { queueTable, targetTable } from './targets.ts';

/** The tables of a run, for the terminal. */
export function summary(results: Results): string {
  const { compared, accepting, window, flood, growth } = results;
  return [
    ...(compared === undefined
      ? []
      : [rateTable(compared), cpuTable(compared), costTable(compared), queueTable(results)]),
    ...(accepting === undefined
      ? []
      : [acceptTable(accepting), acceptCpuTable(accepting), batchTable(accepting)]),
    ...(window === undefined ? [] : [windowTable(window)]),
    ...(flood === undefined ? [] : [floodTable(flood)]),
    ...(growth === undefined ? [] : [growthTables(growth)]),
    targetTable(results),
  ].join('\n\n');
}
