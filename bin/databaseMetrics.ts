import { Counter, Gauge, type Registry } from 'prom-client';
import { withTimeout } from '../concurrency/tasks.ts';
import { type Database, readWithin, type Sql } from '../db/connection.ts';
import { countOpenFindings } from '../db/maintenance/findings.ts';
import { readRegularWork } from '../db/maintenance/regularWork.ts';
import { readBacklog } from '../db/money/reservations.ts';
import { readQueues, readWatched } from '../db/routes/routeOverview.ts';
import { ping } from '../db/setup.ts';
import { providerKinds } from '../providers/registry.ts';

// In total: a scrape times out after ten seconds.
const TIMEOUT_MS = 5_000;
// For queries that only a lock can delay, which must not keep the rest from being read.
const QUICK_MS = 1_000;
// For queries that grow with the data.
const LONG_MS = 4_000;
const STATES = ['active', 'draining', 'disabled'] as const;

/** Exports metrics within five seconds; what cannot be read is left out. Labels contain nothing about messages or people. */
export async function databaseMetrics(
  sql: Database,
  registry: Registry,
  onError: (error: unknown) => void,
): Promise<void> {
  // A gauge without labels is 0 until it is set.
  const up = new Gauge({
    name: 'goniec_database_up',
    help: 'Whether the database answered.',
    registers: [registry],
  });
  const write = async (read: Reading, ms: number): Promise<void> => {
    await readWithin(sql, ms, (tx) => read(tx, registry)).catch(onError);
  };
  const writeAll = async (): Promise<void> => {
    await ping(sql);
    up.set(1);
    for (const read of [routes, findings, regularWork, backlog]) await write(read, QUICK_MS);
    await write(queues, LONG_MS);
  };
  // An unreachable database does not even time a statement out.
  await withTimeout(writeAll(), TIMEOUT_MS, () => {
    throw new Error('metrics: the database did not answer in time');
  }).catch(onError);
}

type Reading = (tx: Sql, registry: Registry) => Promise<void>;
type NameAndHelp = readonly [name: string, help: string];

const backlog: Reading = async (tx, registry) =>
  show(registry, [await readBacklog(tx)], [], {
    total: ['goniec_backlog', 'Accepted messages and e-mails whose workflows are not started yet.'],
    oldestSeconds: [
      'goniec_backlog_oldest_seconds',
      'How long the oldest of them has waited; 0 where there is none.',
    ],
  });

const findings: Reading = async (tx, registry) =>
  show(registry, await countOpenFindings(tx), ['kind'], {
    open: [
      'goniec_findings_open',
      'What the reconciliation found and a person has to look at (npm run admin -- findings list).',
    ],
  });

const regularWork: Reading = async (tx, registry) =>
  show(registry, await readRegularWork(tx), ['schedule', 'activity'], {
    secondsSinceSuccess: [
      'goniec_regular_work_seconds_since_success',
      'Time since a step of the regular work last succeeded; before its first success, since it is expected.',
    ],
    intervalSeconds: ['goniec_regular_work_interval_seconds', 'How often a step of the regular work runs.'],
  });

const routes: Reading = async (tx, registry) => {
  const watched = (await readWatched(tx)).map((route) => ({ ...route, route: route.name }));
  const timed = watched.map((route) => ({
    ...route,
    // Silence of a provider that reports failures alone means nothing. A kind unknown to this release is taken for one that reports.
    sinceReport:
      providerKinds.named(route.kind)?.reportsFailuresAlone === true
        ? null
        : secondsSince(route.reportedAt ?? route.submittingSince),
    sinceReply: secondsSince(route.repliedAt),
  }));
  const states = watched.flatMap(({ route, kind, state: set }) =>
    STATES.map((state) => ({ route, kind, state, isSet: state === set })),
  );
  const workers = watched.flatMap(({ route, kind, workers }) =>
    workers.map((worker) => ({ route, kind, ...worker })),
  );
  show(registry, states, ['route', 'kind', 'state'], {
    isSet: ['goniec_route_state', 'What staff set the route to: 1 for the one of its states that holds.'],
  });
  show(registry, timed, ['route', 'kind'], {
    working: [
      'goniec_route_up',
      'Whether messages get through by the route, or did just now, on any worker.',
    ],
    ratePerSecond: [
      'goniec_route_rate_limit_parts_per_second',
      'Parts per second that the provider allows; absent without a limit.',
    ],
    sinceReport: [
      'goniec_route_seconds_since_last_report',
      'Time since the last delivery report or event of an e-mail; before the first, since the route was seen to submit. Absent before that, and of a provider that reports failures alone.',
    ],
    sinceReply: [
      'goniec_route_seconds_since_last_reply',
      'Time since the last incoming message; absent before the first.',
    ],
  });
  show(registry, workers, ['route', 'kind', 'worker'], {
    sessions: ['goniec_route_sessions', 'Open sessions that take submits.'],
    sessionsWanted: ['goniec_route_sessions_wanted', 'Sessions that should be open.'],
    window: [
      'goniec_route_window_parts',
      'Submits that may be without an answer at once, over all sessions.',
    ],
    inFlight: ['goniec_route_in_flight_parts', 'Submits without an answer so far.'],
    submitted: ['goniec_route_submitted_parts_total', 'Parts that the provider took.'],
    throttled: ['goniec_route_throttled_parts_total', 'Submits answered with: too fast.'],
    refused: ['goniec_route_refused_parts_total', 'Submits refused for good.'],
    unanswered: ['goniec_route_unanswered_parts_total', 'Submits without an answer, or with an unclear one.'],
    held: [
      'goniec_route_held_parts_total',
      'Submits not taken: to come later, or for a reason that lies in the route.',
    ],
    failures: ['goniec_route_connection_failures_total', 'Connections and binds that failed or were lost.'],
  });
};

const queues: Reading = async (tx, registry) =>
  show(
    registry,
    (await readQueues(tx)).map((route) => ({ ...route, route: route.name })),
    ['route', 'kind'],
    {
      queue: [
        'goniec_route_queue_messages',
        'Messages and e-mails that wait to be handed over by the route; of each half a million or more count as half a million. Absent where they could not be counted.',
      ],
      unanswered: [
        'goniec_route_unanswered_messages',
        'Messages and e-mails of which nobody knows whether the provider took them.',
      ],
    },
  );

// Exports fields of rows: `labels` tell the rows apart, a name in `_total` is a counter, null is no value.
function show<Row extends object>(
  registry: Registry,
  rows: readonly Row[],
  labels: readonly (keyof Row & string)[],
  metrics: Partial<Record<keyof Row, NameAndHelp>>,
): void {
  for (const [field, [name, help]] of Object.entries(metrics) as [keyof Row, NameAndHelp][]) {
    const Metric = name.endsWith('_total') ? Counter : Gauge;
    const labelNames: readonly string[] = labels;
    const metric = new Metric({ name, help, labelNames, registers: [registry] });
    for (const row of rows) {
      const value = row[field];
      const labelled = labels.map((label) => [label, String(row[label])]);
      if (value !== null) metric.inc(Object.fromEntries(labelled) as Record<string, string>, Number(value));
    }
  }
}

function secondsSince(instant: Date | null): number | null {
  return instant === null ? null : Math.max(0, (Date.now() - instant.getTime()) / 1_000);
}
