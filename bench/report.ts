import type { Timing } from './load.ts';
import type { Idle, Measurement } from './measure.ts';

/** Everything a run found, as it is written to `results.json`. */
export interface Results {
  at: string;
  machine: { cpus: number; model: string; memoryGb: number; loadBefore: number; node: string };
  together: boolean;
  idle: Idle;
  /** By concurrency: the bare update-with-start, and the smallest HTTP request. */
  baseline: { concurrency: number; bare: Timing; health: Timing }[];
  measurements: Measurement[];
}

/** The results as Markdown tables. */
export function markdown(results: Results): string {
  const { machine, together } = results;
  return [
    `Measured ${results.at} on ${machine.cpus} × ${machine.model}, ${machine.memoryGb} GB, Node ${machine.node}; ` +
      `load before the start ${machine.loadBefore.toFixed(2)}; everything on this machine; ` +
      `API and worker ${together ? 'in one process' : 'in a process each'}.`,
    'Accepting: requests per second and milliseconds to the answer; × compares with the bare update-with-start.',
    acceptTable(results),
    'Delivering: messages per second from the first acceptance to the last delivery (simulated network: 1 s).',
    deliveryTable(results),
    'Cost of a message: milliseconds of CPU, SQL statements (BEGIN and COMMIT included), bytes, history.',
    costTable(results),
    idleLine(results.idle),
  ].join('\n\n');
}

function acceptTable({ baseline, measurements }: Results): string {
  const rows = baseline.flatMap(({ concurrency, bare, health }) => [
    acceptRow('GET /v1/health', concurrency, health, bare),
    acceptRow('bare update-with-start', concurrency, bare, bare),
    ...measurements
      .filter(({ scenario }) => scenario.concurrency === concurrency)
      .map(({ scenario, accept }) => acceptRow(scenario.name, concurrency, accept, bare)),
  ]);
  return table(['', 'at once', 'requests', '/s', 'median', '95 %', '99 %', '× median', '× rate'], rows);
}

function acceptRow(name: string, concurrency: number, timing: Timing, bare: Timing): string[] {
  return [
    name,
    String(concurrency),
    String(timing.count),
    timing.perSecond.toFixed(1),
    ...[timing.median, timing.p95, timing.p99].map((ms) => ms.toFixed(1)),
    (timing.median / bare.median).toFixed(2),
    (timing.perSecond / bare.perSecond).toFixed(2),
  ];
}

function deliveryTable({ measurements }: Results): string {
  return table(
    ['', 'messages', 'accepted by (median ms)', 'all delivered (s)', 'messages/s'],
    measurements.map(({ scenario, messages, accept, deliverySeconds, messagesPerSecond }) => [
      `${scenario.name}, ${scenario.concurrency} at once`,
      String(messages),
      accept.median.toFixed(1),
      deliverySeconds.toFixed(2),
      messagesPerSecond.toFixed(1),
    ]),
  );
}

function costTable({ measurements }: Results): string {
  const processes = Object.keys(measurements[0]?.cpuMs ?? {});
  const roles = Object.keys(measurements[0]?.statements ?? {}).sort();
  return table(
    [
      '',
      ...processes.map((name) => `CPU ${name}`),
      'CPU',
      ...roles.map((name) => `SQL ${name}`),
      'ms in SQL',
      'tables',
      'WAL',
      'Temporal',
      'events',
      'transitions',
      'history bytes',
    ],
    measurements.map(({ scenario, cpuMs, statements, statementMs, bytes, history, batchHistory }) => [
      `${scenario.name}, ${scenario.concurrency} at once`,
      ...processes.map((name) => (cpuMs[name] ?? 0).toFixed(1)),
      sum(cpuMs).toFixed(1),
      ...roles.map((name) => (statements[name] ?? 0).toFixed(2)),
      sum(statementMs).toFixed(2),
      ...[bytes.tables, bytes.log, bytes.temporal].map((value) => value.toFixed(0)),
      `${history.events}${batchHistory === null ? '' : ` (batch ${batchHistory.events})`}`,
      `${history.stateTransitions}${batchHistory === null ? '' : ` (batch ${batchHistory.stateTransitions})`}`,
      String(history.bytes),
    ]),
  );
}

function idleLine({ cpuMs, statements }: Idle): string {
  const list = (values: Record<string, number>): string =>
    Object.entries(values)
      .map(([name, value]) => `${name} ${value.toFixed(1)}`)
      .join(', ');
  return `Idle, per second: CPU ms ${list(cpuMs)}; SQL statements ${list(statements)}.`;
}

function sum(values: Record<string, number>): number {
  return Object.values(values).reduce((total, value) => total + value, 0);
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]): string => `| ${cells.join(' | ')} |`;
  const rule = line(head.map((_, index) => (index === 0 ? '---' : '---:')));
  return [line(head), rule, ...rows.map(line)].join('\n');
}
