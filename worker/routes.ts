import type { WorkerOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { LocalRoute } from '../activities/submission.ts';
import type { SubmitContext } from '../activities/submission/storing.ts';
import type { Database } from '../db/connection.ts';
import {
  forgetWorker,
  readRoutes,
  reportRoutes,
  type Route,
  routeCredentials,
  type SeenRoute,
} from '../db/routes/routes.ts';
import type { Routing } from '../domain/routing.ts';
import type { EmailEvents } from '../pipeline/emailEvents.ts';
import { createQuickLane, type QuickLane } from '../pipeline/quickLane.ts';
import { closedProvider, type Provider, type ProviderHandlers } from '../providers/provider.ts';
import { createProvider } from '../providers/create.ts';
import type { ProviderStores } from '../providers/kind.ts';
import { createRouteHealth, type RouteTasks, shouldTakeTasks, takeRouteTasks } from './routeTasks.ts';
import { repeat } from '../concurrency/tasks.ts';

export interface RoutesOptions {
  sql: Database;
  secretsKey: Buffer;
  shortUrl: string;
  emailEvents: EmailEvents;
  stores: ProviderStores;
  handlersOf: (route: string) => ProviderHandlers;
  routing: () => Promise<Routing>;
  applyReports: () => Promise<void>;
  /** Options of the routes' Temporal workers, without queues and activities. */
  worker: Omit<WorkerOptions, 'taskQueue' | 'activities'>;
  log: Logger;
  /** Called when a route's Temporal worker fails: the process cannot go on. */
  onBroken: (error: unknown) => void;
}

interface RunningRoute {
  /** Applies staff's changes; sessions are reopened only if those concern them. */
  change(route: Route): void;
  /** Starts or stops polling, by the state of all routes. */
  follow(routing: Routing): void;
  seen(): SeenRoute;
  atHand(): LocalRoute | undefined;
  stop(): Promise<void>;
}

async function startRoute(first: Route, quick: QuickLane, options: RoutesOptions): Promise<RunningRoute> {
  const { log } = options;
  let route = first;
  let provider = await openProvider(first, options);
  let tasks: RouteTasks | null = null;
  // Opening, closing and starting tasks never overlap.
  let busy: Promise<void> | null = null;
  let stopped = false;
  const health = createRouteHealth();
  let open = false;
  const onAnswer: SubmitContext['onAnswer'] = (answer, _ms, suspect) => health.onAnswer(answer, suspect);
  const runExclusive = (work: () => Promise<void>): void => {
    busy = work()
      .catch((error: unknown) =>
        log.error({ err: error, route: route.name }, 'failed to open or close the route; will retry'),
      )
      .finally(() => (busy = null));
  };
  const endTasks = async (): Promise<void> => {
    const ending = tasks;
    tasks = null;
    await ending?.stop();
  };

  return {
    change(next) {
      if (busy !== null || stopped) return;
      if (fingerprintOf(next) === fingerprintOf(route)) {
        route = next;
        return;
      }
      log.info({ route: next.name, state: next.state }, 'route changed');
      runExclusive(async () => {
        await endTasks();
        await provider.stop();
        route = next;
        provider = await openProvider(next, options);
      });
    },
    follow(routing) {
      if (busy !== null || stopped) return;
      const wanted = shouldTakeTasks(route, provider, routing);
      if (wanted === (tasks !== null)) return;
      runExclusive(async () => {
        if (wanted) tasks = await takeRouteTasks(route, { provider, onAnswer }, quick, options);
        else await endTasks();
      });
    },
    seen() {
      const seen = health.seen(route.name, provider);
      if (seen.working !== open) logChange(log, seen);
      open = seen.working;
      return seen;
    },
    atHand: () => tasks?.atHand,
    async stop() {
      stopped = true;
      await busy;
      await endTasks();
      await provider.stop();
    },
  };
}

function logChange(log: Logger, { route, working, sessions, sessionsWanted, lastError }: SeenRoute): void {
  if (working) log.info({ route, sessions, sessionsWanted }, 'the route works');
  else log.warn({ route, sessions, sessionsWanted, lastError }, 'the route does not work');
}

// Changes to these reopen the provider. Draining concerns new messages only.
function fingerprintOf({ kind, settings, credentials, ratePerSecond, state }: Route): string {
  const disabled = state === 'disabled';
  return JSON.stringify([kind, settings, credentials?.toString('base64'), ratePerSecond, disabled]);
}

async function openProvider(route: Route, options: RoutesOptions): Promise<Provider> {
  const { log, secretsKey, stores, handlersOf } = options;
  const { name, kind, settings } = route;
  const onError = (error: unknown): void => log.warn({ err: error, route: name }, 'provider');
  if (route.state === 'disabled') return closedProvider(name, null);
  let credentials: unknown;
  try {
    credentials = routeCredentials(secretsKey, route);
  } catch (error) {
    onError(error);
    return closedProvider(name, 'its credentials cannot be read with this secrets key');
  }
  const provider = await createProvider(kind, { name, settings, credentials }, { stores, onError });
  void provider.start(handlersOf(name)).catch(onError);
  return provider;
}

interface Routes {
  atHand(name: string): LocalRoute | undefined;
  stop(): Promise<void>;
}

const LOOK_MS = 1_000;
// A submit here occupies a workflow task: a slower SMSC is left to the queue. Not less than 1.5 s: under full load everything is slower,
// and the queue costs even more. Fewer slots than workflow tasks, however many SMSCs hang.
const QUICK_SUBMITS = { quickMs: 1_500, places: 40, placesEach: 20 };

/** Runs all routes of the database in this process: opens providers, polls the queues, reports their state and applies staff's changes. */
export async function runRoutes(options: RoutesOptions): Promise<Routes> {
  const { sql, log } = options;
  const id = `${hostname()}/${process.pid}/${randomBytes(3).toString('hex')}`;
  const running = new Map<string, RunningRoute>();
  const quick = createQuickLane(QUICK_SUBMITS);

  const onError = (error: unknown): void => log.error({ err: error }, 'failed to refresh routes; will retry');

  async function refresh(): Promise<void> {
    const routes = await readRoutes(sql);
    for (const route of routes) {
      const known = running.get(route.name);
      if (known) known.change(route);
      else running.set(route.name, await startRoute(route, quick, options));
    }
    const names = new Set(routes.map(({ name }) => name));
    for (const [name, route] of running) {
      if (names.has(name)) continue;
      running.delete(name);
      // Not awaited: the other routes' state is still reported.
      void route.stop().catch(onError);
    }
    await reportRoutes(
      sql,
      id,
      [...running.values()].map((route) => route.seen()),
    );
    const routing = await options.routing();
    for (const route of running.values()) route.follow(routing);
  }

  await refresh();
  const looking = repeat(LOOK_MS, refresh, onError);
  return {
    atHand: (name) => running.get(name)?.atHand(),
    async stop() {
      await looking.stop();
      await Promise.all([...running.values()].map((route) => route.stop()));
      await forgetWorker(sql, id).catch(onError);
    },
  };
}
