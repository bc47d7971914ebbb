import { Worker, type WorkerOptions } from '@temporalio/worker';
import { emailActivities } from '../activities/email.ts';
import { lookupActivities } from '../activities/lookup.ts';
import { createRetryThrottle } from '../concurrency/retryPace.ts';
import { createFairSemaphore } from '../concurrency/semaphore.ts';
import { createPacer } from '../db/routes/pacing.ts';
import type { QuickLane } from '../pipeline/quickLane.ts';
import { type LocalRoute, submissionActivities } from '../activities/submission.ts';
import type { SubmitContext } from '../activities/submission/storing.ts';
import type { Provider } from '../providers/provider.ts';
import { NO_SESSION, type SubmitAnswer, type Suspect } from '../domain/submission.ts';
import type { Route, SeenRoute } from '../db/routes/routes.ts';
import { hasFallback, type Routing } from '../domain/routing.ts';
import { providerKinds } from '../providers/registry.ts';
import { lookupQueue, routeQueue } from '../workflows/contracts.ts';
import type { RoutesOptions } from './routes.ts';

// More would only deprive other processes of work, and have priority messages wait behind tasks already polled.
const SUBMITS_MAX = 200;
// Tasks polled and not submitted yet amount to half a second of the route's rate at most.
const AHEAD_SECONDS = 0.5;
const SUBMITS_MIN = 4;
// Each waits up to 3 s for the network, without load on the provider.
const LOOKUPS_MIN = 4;
const LOOKUPS_MAX = 40;

export interface RouteTasks {
  atHand: LocalRoute;
  /** Stops polling and waits for running tasks. */
  stop(): Promise<void>;
}

/** Poll if this process can submit, or if none can and messages have another route to move to. Otherwise they stay queued, in order. */
export function shouldTakeTasks(route: Route, provider: Provider, routing: Routing): boolean {
  if (provider.state().takesSubmits) return true;
  const self = routing.routes.find(({ name }) => name === route.name);
  if (self?.working === true && route.state !== 'disabled') return false;
  return hasFallback(routing, route.name);
}

export async function takeRouteTasks(
  route: Route,
  { provider, onAnswer }: Pick<SubmitContext, 'provider' | 'onAnswer'>,
  quick: QuickLane,
  { sql, routing, applyReports, worker, onBroken, secretsKey, shortUrl, emailEvents }: RoutesOptions,
): Promise<RouteTasks> {
  const pacer = createPacer(sql, route.name, route.ratePerSecond);
  let stopping = false;
  const submitting: SubmitContext = {
    sql,
    secretsKey,
    provider,
    routing,
    applyReports,
    pacer,
    retries: createRetryThrottle(),
    onAnswer(answer: SubmitAnswer, ms: number, suspect?: Suspect) {
      // Answers to old submits say nothing about the sessions opened next.
      if (!stopping)
        quick.record(route.name, { ms, well: answer.kind === 'accepted' || answer.kind === 'refused' });
      onAnswer(answer, ms, suspect);
    },
  };
  const tasks = submitConcurrency(route, provider);
  // A slow recipient's server may take minutes for an e-mail: one account never occupies all tasks.
  const places = createFairSemaphore(tasks, tasks - 1);
  const lookups = Math.min(Math.max(provider.state().window, LOOKUPS_MIN), LOOKUPS_MAX);
  const workers = await createAll([
    {
      ...worker,
      taskQueue: routeQueue(route.name),
      maxConcurrentActivityTaskExecutions: tasks,
      activities: {
        ...submissionActivities(submitting),
        ...emailActivities({ ...submitting, shortUrl, emailEvents, places }),
      },
    },
    ...(providerKinds.named(route.kind)?.traits.carries.includes('hlr') === true
      ? [
          {
            ...worker,
            taskQueue: lookupQueue(route.name),
            maxConcurrentActivityTaskExecutions: lookups,
            activities: lookupActivities(sql, provider),
          },
        ]
      : []),
  ]);
  const runs = workers.map((one) =>
    one.run().catch((error: unknown) => {
      if (!stopping) onBroken(error);
    }),
  );
  return {
    atHand: {
      submitting,
      tryAcquire() {
        const { takesSubmits, inFlight, window } = provider.state();
        if (!takesSubmits || inFlight >= window || !pacer.free()) return null;
        return quick.tryAcquire(route.name, window);
      },
    },
    async stop() {
      stopping = true;
      quick.record(route.name, { ms: 0, well: false });
      pacer.stop();
      for (const one of workers) if (one.getState() === 'RUNNING') one.shutdown();
      await Promise.all(runs);
    },
  };
}

/** Creates all workers or none: on a failure those already created are shut down. */
async function createAll(wanted: readonly WorkerOptions[]): Promise<Worker[]> {
  const made = await Promise.allSettled(wanted.map((options) => Worker.create(options)));
  const workers = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const failure = made.find(({ status }) => status === 'rejected');
  if (failure === undefined) return workers;
  await Promise.all(workers.map((worker) => worker.runUntil(Promise.resolve())));
  throw (failure as PromiseRejectedResult).reason;
}

// Twice the window: submits also store before and after, so about two tasks keep one window slot busy.
function submitConcurrency({ ratePerSecond }: Route, provider: Provider): number {
  const byWindow = Math.max(2 * provider.state().window, SUBMITS_MIN);
  const byRate =
    ratePerSecond === null ? SUBMITS_MAX : Math.max(Math.ceil(ratePerSecond * AHEAD_SECONDS), SUBMITS_MIN);
  return Math.min(byWindow, byRate, SUBMITS_MAX);
}

// Consecutive answers that blame the route before it counts as not working, although its sessions are open.
const BROKEN_IN_ROW = 5;
// Then a message may try it again.
const REST_MS = 30_000;

interface RouteHealth {
  /** @param suspect what may itself be to blame: consecutive answers about one suspect count once */
  onAnswer: (answer: SubmitAnswer, suspect?: Suspect) => void;
  /** The route's state for the database. @param provider the current one */
  seen(route: string, provider: Provider): SeenRoute;
}

export function createRouteHealth(): RouteHealth {
  const counts = { submitted: 0, throttled: 0, refused: 0, unanswered: 0, held: 0 };
  let brokenInRow = 0;
  // Bounded by BROKEN_IN_ROW.
  const blamed = new Set<string>();
  let brokenAt = 0;

  const blame = (suspect: Suspect | undefined): void => {
    const isKnown = suspect !== undefined && blamed.has(suspect.id);
    if (suspect !== undefined && blamed.size < BROKEN_IN_ROW) blamed.add(suspect.id);
    if (!isKnown) brokenInRow += 1;
    // An account whose sender is refused for good must not keep a route stopped that works for the others.
    if (!isKnown || (brokenInRow >= BROKEN_IN_ROW && suspect.kind === 'email')) brokenAt = Date.now();
  };

  return {
    onAnswer(answer, suspect) {
      if (answer.kind === 'broken') {
        if (answer.code === NO_SESSION) return;
        counts.held += 1;
        blame(suspect);
        return;
      }
      if (answer.kind !== 'unanswered') {
        brokenInRow = 0;
        blamed.clear();
      }
      if (answer.kind === 'accepted') counts.submitted += 1;
      else if (answer.kind === 'later') counts.held += 1;
      else counts[answer.kind] += 1;
    },
    seen(route, provider) {
      const { takesSubmits, ...state } = provider.state();
      const resting = brokenInRow >= BROKEN_IN_ROW && Date.now() - brokenAt < REST_MS;
      return { route, ...state, ...counts, working: takesSubmits && !resting };
    },
  };
}
