import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { createQuickLane } from '../pipeline/quickLane.ts';
import type { RouteAtHand } from '../activities/submission.ts';
import { readRoutes } from '../db/routes/routes.ts';
import { forgetWorker, reportRoutes } from '../db/routes/routeStates.ts';
import { repeat } from '../concurrency/repeat.ts';
import { type RoutesOptions, type RunningRoute, startRoute } from './runningRoute.ts';

/** The routes of this process. */
export interface Routes {
  /** A route that takes tasks here now. */
  atHand(name: string): RouteAtHand | undefined;
  stop(): Promise<void>;
}

// Changes by staff and the state of sessions are looked at so often.
const LOOK_MS = 1_000;
// A workflow task that submits keeps its place for so long: an SMSC that takes longer is left to the queue. Not less: on a
// machine under full load everything takes longer, and the queue costs it more. Fewer places than workflow tasks have,
// however many SMSCs hang at once.
const QUICK_SUBMITS = { quickMs: 1_500, places: 40, placesEach: 20 };

/**
 * Runs every route of the database in this process: opens its provider, takes its tasks while that can submit, writes down
 * what is seen of it, and follows what staff change.
 */
export async function runRoutes(options: RoutesOptions): Promise<Routes> {
  const { sql, log } = options;
  const id = `${hostname()}/${process.pid}/${randomBytes(3).toString('hex')}`;
  const running = new Map<string, RunningRoute>();
  const quick = createQuickLane(QUICK_SUBMITS);

  const onError = (error: unknown): void => log.error({ err: error }, 'routes: will be looked at again');

  async function look(): Promise<void> {
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
    atHand: (name) => running.get(name)?.atHand(),
    async stop() {
      await looking.stop();
      await Promise.all([...running.values()].map((route) => route.stop()));
      await forgetWorker(sql, id).catch(onError);
    },
  };
}
