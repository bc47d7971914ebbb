import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { Worker, type WorkerOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import { lookupActivities } from '../activities/lookup.ts';
import { createPacer } from '../activities/pacing.ts';
import { submissionActivities } from '../activities/submission.ts';
import type { Carrier, CarrierHandlers } from '../carriers/carrier.ts';
import { closedCarrier } from '../carriers/closed.ts';
import { createCarrier, type CarrierStores } from '../carriers/create.ts';
import type { Database } from '../db/connection.ts';
import { readRoutes, type Route, routeCredentials } from '../db/routes.ts';
import { forgetWorker, reportRoutes, type SeenRoute } from '../db/routeStates.ts';
import type { RouteOption, Routing } from '../domain/routing.ts';
import type { SubmitAnswer } from '../domain/submission.ts';
import { carrierQueue } from '../workflows/contracts.ts';
import { repeat } from './repeat.ts';

/** What the routes of a worker need. */
export interface RoutesOptions {
  sql: Database;
  secretsKey: Buffer;
  stores: CarrierStores;
  /** Where each route's carrier hands over what comes in. */
  handlersOf: (route: string) => CarrierHandlers;
  routing: () => Promise<Routing>;
  applyReports: () => Promise<void>;
  /** Of the Temporal workers that take the routes' tasks; queue and activities are added. */
  worker: Omit<WorkerOptions, 'taskQueue' | 'activities'>;
  log: Logger;
  /** Told when a route's Temporal worker breaks: the process cannot go on. */
  onBroken: (error: unknown) => void;
}

// Changes by the operator and the state of sessions are looked at so often.
const LOOK_MS = 1_000;
// More at once would only take work away from other processes, and let priority messages wait behind what was taken.
const AT_ONCE_MAX = 200;
// What this process has taken and not yet submitted is at most half a second's worth of the route's rate.
const AHEAD_SECONDS = 0.5;
const AT_ONCE_MIN = 4;

/**
 * Runs every route of the database in this process: opens its carrier, takes its tasks while that can submit, writes down
 * what is seen of it, and follows what the operator changes.
 */
export async function runRoutes(options: RoutesOptions): Promise<{ stop(): Promise<void> }> {
  const { sql, log } = options;
  const id = `${hostname()}/${process.pid}/${randomBytes(3).toString('hex')}`;
  const running = new Map<string, RunningRoute>();

  const onError = (error: unknown): void => log.error({ err: error }, 'routes: will be looked at again');

  async function look(): Promise<void> {
    const routes = await readRoutes(sql);
    for (const route of routes) {
      const known = running.get(route.name);
      if (known) known.change(route);
      else running.set(route.name, startRoute(route, options));
    }
    const names = new Set(routes.map(({ name }) => name));
    for (const [name, route] of running) {
      if (names.has(name)) continue;
      running.delete(name);
      // The other routes are seen to work meanwhile.
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

  await look();
  const looking = repeat(LOOK_MS, look, onError);
  return {
    async stop() {
      await looking.stop();
      await Promise.all([...running.values()].map((route) => route.stop()));
      await forgetWorker(sql, id).catch(onError);
    },
  };
}

/** One route in this process. */
interface RunningRoute {
  /** Takes what the operator changed; sessions are opened anew only for what concerns them. */
  change(route: Route): void;
  /** Begins or ends to take tasks, by what is known of all routes. */
  follow(routing: Routing): void;
  seen(): SeenRoute;
  stop(): Promise<void>;
}

function startRoute(first: Route, options: RoutesOptions): RunningRoute {
  const { log } = options;
  let route = first;
  let carrier = openCarrier(first, options);
  let tasks: TaskTaker | null = null;
  // One thing after the other: opening, closing and taking tasks never overlap.
  let busy: Promise<void> | null = null;
  let stopped = false;
  const counts = { submitted: 0, throttled: 0, refused: 0, unanswered: 0 };
  const onAnswer = (kind: SubmitAnswer['kind']): void => {
    if (kind === 'accepted') counts.submitted += 1;
    else if (kind === 'throttled' || kind === 'refused' || kind === 'unanswered') counts[kind] += 1;
  };
  const doing = (work: () => Promise<void>): void => {
    busy = work()
      .catch((error: unknown) => log.error({ err: error, route: route.name }, 'route: will be tried again'))
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
      log.info({ route: next.name, state: next.state }, 'the route changes');
      doing(async () => {
        await endTasks();
        await carrier.stop();
        route = next;
        carrier = openCarrier(next, options);
      });
    },
    follow(routing) {
      if (busy !== null || stopped) return;
      const wanted = takesTasks(route, carrier, routing);
      if (wanted === (tasks !== null)) return;
      doing(async () => {
        if (wanted) tasks = await takeTasks(route, carrier, options, onAnswer);
        else await endTasks();
      });
    },
    seen() {
      const { sessions, sessionsWanted, window, inFlight, failures, lastError, lastErrorAt } =
        carrier.state();
      return {
        ...{
          route: route.name,
          sessions,
          sessionsWanted,
          window,
          inFlight,
          failures,
          lastError,
          lastErrorAt,
        },
        ...counts,
      };
    },
    async stop() {
      stopped = true;
      await busy;
      await endTasks();
      await carrier.stop();
    },
  };
}

// What sessions and pace are made from. Draining concerns new messages only.
function fingerprintOf({ kind, settings, credentials, ratePerSecond, state }: Route): string {
  const disabled = state === 'disabled';
  return JSON.stringify([kind, settings, credentials?.toString('base64'), ratePerSecond, disabled]);
}

function openCarrier(route: Route, options: RoutesOptions): Carrier {
  const { log, secretsKey, stores, handlersOf } = options;
  const { name, kind, settings } = route;
  const onError = (error: unknown): void => log.warn({ err: error, route: name }, 'carrier');
  if (route.state === 'disabled') return closedCarrier(name, null);
  let credentials: unknown;
  try {
    credentials = routeCredentials(secretsKey, route);
  } catch (error) {
    onError(error);
    return closedCarrier(name, 'its credentials cannot be read with this secrets key');
  }
  const carrier = createCarrier({ name, kind, settings, credentials }, stores, onError);
  void carrier.start(handlersOf(name)).catch(onError);
  return carrier;
}

/**
 * Whoever can submit takes tasks. A route that nobody can submit on gives its messages to others, if there are any, and
 * else keeps them in their order, untouched.
 */
function takesTasks(route: Route, carrier: Carrier, { routes, rules }: Routing): boolean {
  if (carrier.state().sessions > 0) return true;
  const self = routes.find(({ name }) => name === route.name);
  if (self?.working === true && route.state !== 'disabled') return false;
  // The simulated network takes over for nobody but the accounts it was given to.
  const isReserve = ({ name, kind }: RouteOption): boolean =>
    kind !== 'simulator' || rules.some((rule) => rule.route === name && rule.accountId !== null);
  return routes.some(
    (other) => other.name !== route.name && other.state === 'active' && other.working && isReserve(other),
  );
}

/** A Temporal worker on one route's queue. */
interface TaskTaker {
  stop(): Promise<void>;
}

async function takeTasks(
  route: Route,
  carrier: Carrier,
  options: RoutesOptions,
  onAnswer: (kind: SubmitAnswer['kind']) => void,
): Promise<TaskTaker> {
  const { sql, routing, applyReports } = options;
  const pacer = createPacer(sql, route.name, route.ratePerSecond);
  const worker = await Worker.create({
    ...options.worker,
    taskQueue: carrierQueue(route.name),
    maxConcurrentActivityTaskExecutions: atOnce(route, carrier),
    activities: {
      ...submissionActivities({ sql, carrier, pacer, routing, applyReports, onAnswer }),
      ...lookupActivities(sql, carrier),
    },
  });
  let stopping = false;
  const run = worker.run().catch((error: unknown) => {
    if (!stopping) options.onBroken(error);
  });
  return {
    async stop() {
      stopping = true;
      pacer.stop();
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await run;
    },
  };
}

// Each submit also stores things before and after it, so that it takes about two to keep a place of the window used.
function atOnce({ ratePerSecond }: Route, carrier: Carrier): number {
  const byWindow = Math.max(2 * carrier.state().window, AT_ONCE_MIN);
  const byRate =
    ratePerSecond === null ? AT_ONCE_MAX : Math.max(Math.ceil(ratePerSecond * AHEAD_SECONDS), AT_ONCE_MIN);
  return Math.min(byWindow, byRate, AT_ONCE_MAX);
}
