import type { FloodResult } from '../flood.ts';
import type { GrowthStep } from '../growth.ts';
import type { WindowResult } from '../window.ts';
import { figure, grouped, table } from './markdown.ts';

const MIB = 1024 * 1024;

/** Memory and idle CPU, by process. */
export function growthTables(growth: GrowthStep[]): string {
  const names = Object.keys(growth[0]!.memory);
  const asleep = ({ asleep }: GrowthStep): string => grouped(String(asleep));
  const accepting = table(
    [
      ...['asleep', 'recipients accepted/s', 'all started after s', 'accepted by, median ms', '99 % ms'],
      ...['SQL idle/s', 'tables MiB', 'Temporal MiB'],
    ],
    growth.map((step) => [
      asleep(step),
      figure(step.acceptedPerSecond),
      figure(step.startedSeconds),
      figure(step.accept.median),
      figure(step.accept.p99),
      figure(step.idleStatements),
      figure(step.tables / MIB),
      figure(step.temporalFile === null ? null : step.temporalFile / MIB),
    ]),
  );
  const processes = table(
    ['asleep', ...names.map((name) => `${name} MiB`), ...names.map((name) => `${name} idle CPU ms/s`)],
    growth.map((step) => [
      asleep(step),
      ...names.map((name) => figure((step.memory[name] ?? 0) / MIB)),
      ...names.map((name) => figure(step.idleCpuMs[name])),
    ]),
  );
  return `${accepting}\n\n${processes}`;
}

/** How late messages were, and whether priority came first. */
export function windowTable(window: WindowResult): string {
  const { lateness, priorityLateness, priorityRanks } = window;
  return table(
    ['', 'median', '99 %', 'last'],
    [
      { what: 'seconds late, all', of: lateness },
      { what: 'seconds late, with priority', of: priorityLateness },
      { what: 'place of priority messages', of: priorityRanks },
    ].map(({ what, of }) => [what, figure(of.median), figure(of.p99), figure(of.last)]),
  );
}

/** Milliseconds from the request to the submit. */
export function floodTable({ idle, flooded, ofFlood }: FloodResult): string {
  return table(
    ['milliseconds from request to submit', 'median', '99 %', 'last'],
    [
      { what: 'single messages, nothing else happens', of: idle },
      { what: "single messages during another account's flood", of: flooded },
      { what: 'the flood itself', of: ofFlood },
    ].map(({ what, of }) => [what, figure(of.median), figure(of.p99), figure(of.last)]),
  );
}
