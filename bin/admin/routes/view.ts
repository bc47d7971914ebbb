import { readOverview, type RouteOverview, type RouteWorker } from '../../../db/routes/routeOverview.ts';
import { readRouteRules, type Route } from '../../../db/routes/routes.ts';
import { StaffRefused } from '../../../domain/refusals.ts';
import { findRoute, kindOf, plainRoute } from '../../../operations/routes/find.ts';
import { checkedSettings, storedSettings } from '../../../operations/routes/settings.ts';
import { simulatedUseNow } from '../../../operations/routes/uses.ts';
import { command, flag, required, type Outcome } from '../command.ts';
import { printable } from '../printable.ts';
import { inWords } from '../refusals.ts';
import { routeName } from '../values.ts';
import { remark, ruleRecord, simulatorRemark, summary } from './shown.ts';

/** What shows at a glance how the routes are, within the width of a terminal. */
const NARROW = [
  ...['name', 'kind', 'state', 'working', 'sessions', 'sessions_wanted'],
  ...['in_flight', 'queue', 'unanswered', 'failures'],
];

const list = command({
  name: 'routes list',
  about: 'Lists the routes and how they are.',
  options: { wide: flag('with everything that is known of each, as routes show has it') },
  async run(sql, { wide = false }): Promise<Outcome> {
    const routes = await readOverview(sql);
    return {
      result: { data: routes.map(line) },
      ...(wide ? {} : { columns: NARROW }),
      ...remark([simulatorRemark(await simulatedUseNow(sql))]),
    };
  },
});

const show = command({
  name: 'routes show',
  about: 'Shows a route: settings with their defaults, rules, and each worker’s sessions.',
  options: { name: required('NAME', 'the route', routeName) },
  positional: ['name'],
  async run(sql, { name }): Promise<Outcome> {
    const route = await findRoute(sql, name);
    const [seen] = await readOverview(sql, name);
    const rules = (await readRouteRules(sql)).filter((rule) => rule.route === name);
    const { settings, problem } = effectiveSettings(route);
    return {
      result: {
        ...summary({ ...plainRoute(route), settings }),
        ...(seen === undefined ? {} : health(seen)),
        rules: rules.map(ruleRecord),
        workers: (seen?.workers ?? []).map(workerRecord),
      },
      subject: name,
      ...remark([problem]),
    };
  },
});

export const routeViewCommands = [list, show];

function line(route: RouteOverview): Record<string, unknown> {
  return { name: route.name, kind: route.kind, state: route.state, ...health(route) };
}

function health(route: RouteOverview) {
  const sum = (count: (worker: RouteWorker) => number) => route.workers.map(count).reduce((a, b) => a + b, 0);
  const lastError = route.workers
    .filter((worker) => worker.lastErrorAt !== null)
    .sort((a, b) => Number(b.lastErrorAt) - Number(a.lastErrorAt))[0];
  return {
    working: route.working,
    worked_at: route.workingAt,
    workers_seen: route.workers.length,
    sessions: sum((worker) => worker.sessions),
    sessions_wanted: sum((worker) => worker.sessionsWanted),
    window: sum((worker) => worker.window),
    in_flight: sum((worker) => worker.inFlight),
    rate_per_second: route.ratePerSecond,
    queue: route.queue,
    unanswered: route.unanswered,
    failures: sum((worker) => worker.failures),
    reported_at: route.reportedAt,
    replied_at: route.repliedAt,
    last_error_at: lastError?.lastErrorAt ?? null,
    last_error: lastError === undefined ? null : printable(lastError.lastError ?? ''),
  };
}

function workerRecord(worker: RouteWorker): Record<string, unknown> {
  return {
    worker: printable(worker.worker),
    sessions: worker.sessions,
    sessions_wanted: worker.sessionsWanted,
    window: worker.window,
    in_flight: worker.inFlight,
    submitted: worker.submitted,
    throttled: worker.throttled,
    refused: worker.refused,
    unanswered: worker.unanswered,
    held: worker.held,
    failures: worker.failures,
    last_error_at: worker.lastErrorAt,
    last_error: worker.lastError === null ? null : printable(worker.lastError),
  };
}

// A release that allows less than an earlier one must not hide what is stored.
function effectiveSettings(route: Route): { settings: unknown; problem: string } {
  try {
    return { settings: checkedSettings(kindOf(route), storedSettings(route)), problem: '' };
  } catch (error) {
    if (!(error instanceof StaffRefused)) throw error;
    return {
      settings: route.settings,
      problem: `The route cannot be opened: ${inWords(error).message.replace(/\.$/, '')}.`,
    };
  }
}
