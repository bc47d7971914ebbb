import { Counter, Gauge, type Registry } from 'prom-client';
import type { RouteQueue, RouteWorker, WatchedRoute } from '../db/routes/routeOverview.ts';
import { providerKinds } from '../providers/registry.ts';

const STATES = ['active', 'draining', 'disabled'] as const;
const MS = 1_000;

/** A route as it is measured; without a queue where that could not be counted. */
type Measured = WatchedRoute & Partial<RouteQueue>;

interface Measure<Of> {
  name: string;
  help: string;
  /** Null: nothing to show. */
  value: (of: Of, now: number) => number | null;
}

const OF_ROUTES: Measure<Measured>[] = [
  {
    name: 'up',
    help: 'Whether messages get through by the route, or did just now, on any worker.',
    value: ({ working }) => Number(working),
  },
  {
    name: 'queue_messages',
    help: 'Messages and e-mails that wait to be handed over by the route; of each half a million or more count as half a million. Absent where they could not be counted.',
    value: ({ queue }) => queue ?? null,
  },
  {
    name: 'unanswered_messages',
    help: 'Messages and e-mails of which nobody knows whether the provider took them.',
    value: ({ unanswered }) => unanswered ?? null,
  },
  {
    name: 'rate_limit_parts_per_second',
    help: 'Parts per second that the provider allows; absent without a limit.',
    value: ({ ratePerSecond }) => ratePerSecond,
  },
  {
    name: 'seconds_since_last_report',
    help: 'Time since the last delivery report or event of an e-mail; before the first, since the route was seen to submit. Absent before that, and of a provider that reports failures alone.',
    value: (route, now) => (isSilent(route) ? null : secondsBetween(reportAwaitedSince(route), now)),
  },
  {
    name: 'seconds_since_last_reply',
    help: 'Time since the last incoming message; absent before the first.',
    value: ({ repliedAt }, now) => secondsBetween(repliedAt, now),
  },
];

const OF_WORKERS: Measure<RouteWorker>[] = [
  { name: 'sessions', help: 'Open sessions that take submits.', value: ({ sessions }) => sessions },
  {
    name: 'sessions_wanted',
    help: 'Sessions that should be open.',
    value: ({ sessionsWanted }) => sessionsWanted,
  },
  {
    name: 'window_parts',
    help: 'Submits that may be without an answer at once, over all sessions.',
    value: ({ window }) => window,
  },
  { name: 'in_flight_parts', help: 'Submits without an answer so far.', value: ({ inFlight }) => inFlight },
];

const COUNTED_BY_WORKERS: Measure<RouteWorker>[] = [
  { name: 'submitted_parts', help: 'Parts that the provider took.', value: ({ submitted }) => submitted },
  { name: 'throttled_parts', help: 'Submits answered with: too fast.', value: ({ throttled }) => throttled },
  { name: 'refused_parts', help: 'Submits refused for good.', value: ({ refused }) => refused },
  {
    name: 'unanswered_parts',
    help: 'Submits without an answer, or with an unclear one.',
    value: ({ unanswered }) => unanswered,
  },
  {
    name: 'held_parts',
    help: 'Submits not taken: to come later, or for a reason that lies in the route.',
    value: ({ held }) => held,
  },
  {
    name: 'connection_failures',
    help: 'Connections and binds that failed or were lost.',
    value: ({ failures }) => failures,
  },
];

/**
 * Writes what is seen of the routes as Prometheus metrics into a fresh registry. Labels are routes, their kinds, and the
 * workers running now: as many as there are of these, and nothing about messages or people.
 * @param now epoch milliseconds
 */
export function routeMetrics(routes: Measured[], registry: Registry, now = Date.now()): void {
  const registers = [registry];
  writeStates(routes, registers);
  for (const { name, help, value } of OF_ROUTES) {
    const gauge = new Gauge({ name: `goniec_route_${name}`, help, labelNames: ['route', 'kind'], registers });
    for (const route of routes) {
      const measured = value(route, now);
      if (measured !== null) gauge.set({ route: route.name, kind: route.kind }, measured);
    }
  }
  const labelNames = ['route', 'kind', 'worker'];
  for (const { name, help, value } of OF_WORKERS) {
    const gauge = new Gauge({ name: `goniec_route_${name}`, help, labelNames, registers });
    for (const [labels, worker] of workersOf(routes)) gauge.set(labels, value(worker, now) ?? 0);
  }
  for (const { name, help, value } of COUNTED_BY_WORKERS) {
    const counter = new Counter({ name: `goniec_route_${name}_total`, help, labelNames, registers });
    for (const [labels, worker] of workersOf(routes)) counter.inc(labels, value(worker, now) ?? 0);
  }
}

function writeStates(routes: Measured[], registers: Registry[]): void {
  const gauge = new Gauge({
    name: 'goniec_route_state',
    help: 'What staff set the route to: 1 for the one of its states that holds.',
    labelNames: ['route', 'kind', 'state'],
    registers,
  });
  for (const { name: route, kind, state } of routes) {
    for (const possible of STATES) gauge.set({ route, kind, state: possible }, Number(possible === state));
  }
}

function workersOf(routes: Measured[]): [Record<'route' | 'kind' | 'worker', string>, RouteWorker][] {
  return routes.flatMap(({ name: route, kind, workers }) =>
    workers.map((worker): [Record<'route' | 'kind' | 'worker', string>, RouteWorker] => [
      { route, kind, worker: worker.worker },
      worker,
    ]),
  );
}

// That nothing is reported by it says nothing. One that this release does not know is taken for one that reports.
function isSilent({ kind }: WatchedRoute): boolean {
  return providerKinds.named(kind)?.reportsFailuresAlone === true;
}

function reportAwaitedSince({ reportedAt, submittingSince }: WatchedRoute): Date | null {
  return reportedAt ?? submittingSince;
}

function secondsBetween(instant: Date | null, now: number): number | null {
  return instant === null ? null : Math.max(0, (now - instant.getTime()) / MS);
}
