import { Counter, Gauge, type Registry } from 'prom-client';
import type { RouteOverview, RouteWorker } from '../db/routes/routeOverview.ts';

const STATES = ['active', 'draining', 'disabled'] as const;
const MS = 1_000;

/**
 * Writes what is seen of the routes as Prometheus metrics into a fresh registry. Labels are routes, their kinds, and the
 * workers running now: as many as there are of these, and nothing about messages or people.
 * @param now epoch milliseconds
 */
export function routeMetrics(routes: RouteOverview[], registry: Registry, now = Date.now()): void {
  const byRoute = (name: string, help: string, value: (route: RouteOverview) => number | null): void => {
    const gauge = new Gauge({
      name: `goniec_route_${name}`,
      help,
      labelNames: ['route', 'kind'],
      registers: [registry],
    });
    for (const route of routes) {
      const measured = value(route);
      if (measured !== null) gauge.set({ route: route.name, kind: route.kind }, measured);
    }
  };
  const labelNames = ['route', 'kind', 'worker'] as const;
  const byWorker = (
    write: (labels: Record<(typeof labelNames)[number], string>, worker: RouteWorker) => void,
  ): void => {
    for (const { name: route, kind, workers } of routes) {
      for (const worker of workers) write({ route, kind, worker: worker.worker }, worker);
    }
  };
  const workerGauge = (name: string, help: string, value: (worker: RouteWorker) => number): void => {
    const gauge = new Gauge({ name: `goniec_route_${name}`, help, labelNames, registers: [registry] });
    byWorker((labels, worker) => gauge.set(labels, value(worker)));
  };
  const workerCounter = (name: string, help: string, value: (worker: RouteWorker) => number): void => {
    const counter = new Counter({
      name: `goniec_route_${name}_total`,
      help,
      labelNames,
      registers: [registry],
    });
    byWorker((labels, worker) => counter.inc(labels, value(worker)));
  };
  const secondsSince = (instant: Date | null): number | null =>
    instant === null ? null : Math.max(0, (now - instant.getTime()) / MS);

  const state = new Gauge({
    name: 'goniec_route_state',
    help: 'What staff set the route to: 1 for the one of its states that holds.',
    labelNames: ['route', 'kind', 'state'],
    registers: [registry],
  });
  for (const { name: route, kind, state: set } of routes) {
    for (const possible of STATES) state.set({ route, kind, state: possible }, Number(possible === set));
  }

  byRoute('up', 'Whether messages get through by the route, or did just now, on any worker.', ({ working }) =>
    Number(working),
  );
  byRoute('queue_messages', 'Messages that wait to be handed over by the route.', ({ queue }) => queue);
  byRoute(
    'unanswered_messages',
    'Messages of which nobody knows whether the provider took them.',
    ({ unanswered }) => unanswered,
  );
  byRoute(
    'rate_limit_parts_per_second',
    'Parts per second that the provider allows; absent without a limit.',
    ({ ratePerSecond }) => ratePerSecond,
  );
  byRoute(
    'seconds_since_last_report',
    'Time since the last delivery report; absent before the first.',
    ({ reportedAt }) => secondsSince(reportedAt),
  );
  byRoute(
    'seconds_since_last_reply',
    'Time since the last incoming message; absent before the first.',
    ({ repliedAt }) => secondsSince(repliedAt),
  );

  workerGauge('sessions', 'Open sessions that take submits.', ({ sessions }) => sessions);
  workerGauge('sessions_wanted', 'Sessions that should be open.', ({ sessionsWanted }) => sessionsWanted);
  workerGauge(
    'window_parts',
    'Submits that may be without an answer at once, over all sessions.',
    ({ window }) => window,
  );
  workerGauge('in_flight_parts', 'Submits without an answer so far.', ({ inFlight }) => inFlight);

  workerCounter('submitted_parts', 'Parts that the provider took.', ({ submitted }) => submitted);
  workerCounter('throttled_parts', 'Submits answered with: too fast.', ({ throttled }) => throttled);
  workerCounter('refused_parts', 'Submits refused for good.', ({ refused }) => refused);
  workerCounter(
    'unanswered_parts',
    'Submits without an answer, or with an unclear one.',
    ({ unanswered }) => unanswered,
  );
  workerCounter(
    'held_parts',
    'Submits not taken: to come later, or for a reason that lies in the route.',
    ({ held }) => held,
  );
  workerCounter(
    'connection_failures',
    'Connections and binds that failed or were lost.',
    ({ failures }) => failures,
  );
}
