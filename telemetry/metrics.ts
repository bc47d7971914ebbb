import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { ServerResponse } from 'node:http';
import { type WorkflowClientInterceptor, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { afterAnswer } from './afterAnswer.ts';
import type { PoolState } from '../db/connection.ts';

/** What this process counts and measures, whatever parts of the service run in it. */
export const registry = new Registry();

/** From a submit at once to a delivery when the phone is switched on days later. */
export const WAIT_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 21_600, 86_400];
// From a few milliseconds to the longest answer the API gives.
const ANSWER_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * A counter of this process.
 * @param zero labels with which it is shown at 0 from the start of the process, where their values are a closed list: Prometheus sees no
 *   increase in the first value of what was not there before
 */
export function counter<Label extends string>(
  name: string,
  help: string,
  labelNames: Label[],
  zero: readonly Record<Label, string>[] = [],
): Counter<Label> {
  const made = new Counter({ name, help, labelNames, registers: [registry] });
  for (const labels of zero) made.inc(labels, 0);
  return made;
}

/** A histogram of seconds of this process. */
export function histogram<Label extends string = never>(
  name: string,
  help: string,
  labelNames: Label[] = [],
  buckets = ANSWER_SECONDS,
): Histogram<Label> {
  return new Histogram({ name, help, labelNames, buckets, registers: [registry] });
}

const requests = counter(
  'goniec_http_requests_total',
  'Requests by the pattern of their path; status "aborted" is a caller who left before the answer.',
  ['method', 'route', 'status'],
);
const duration = histogram(
  'goniec_http_request_duration_seconds',
  'From the request to the end of its answer.',
  ['method', 'route'],
);
const inFlight = new Gauge({
  name: 'goniec_http_requests_in_flight',
  help: 'Requests that have no whole answer yet.',
  registers: [registry],
});

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT']);
// For what is no path of ours: whoever guesses paths must not make metrics of them.
const NO_ROUTE = 'none';
// Node knows some thirty more, and none of them is of use here.
const OTHER_METHOD = 'other';

/**
 * Measures a request until its answer is written, or its caller has gone.
 * @param routeOf asked at the end: the pattern of the path, undefined when there is none
 */
export function measureRequest(
  method: string,
  response: ServerResponse,
  routeOf: () => string | undefined,
): void {
  const end = duration.startTimer();
  inFlight.inc();
  afterAnswer(response, () => {
    inFlight.dec();
    const labels = { method: methodLabel(method), route: routeOf() ?? NO_ROUTE };
    end(labels);
    requests.inc({ ...labels, status: response.writableFinished ? String(response.statusCode) : 'aborted' });
  });
}

/** Counts what was answered without being a request: no HTTP, headers too long or too slow, a tunnel. */
export function countRefusal(method: string | null, status: number): void {
  requests.inc({ method: methodLabel(method ?? OTHER_METHOD), route: NO_ROUTE, status: String(status) });
}

/** The method, where it is one of those in use here. */
export function methodLabel(method: string): string {
  return METHODS.has(method) ? method : OTHER_METHOD;
}

const OPERATIONS = ['start', 'update', 'update_with_start', 'signal', 'query', 'describe', 'cancel'] as const;

const calls = histogram(
  'goniec_temporal_call_duration_seconds',
  'Calls of Temporal about workflows: what was asked for, and whether it came to an answer (ok) or not (error). Waiting for a charge and the workflow task that it is made in is part of an update.',
  ['operation', 'outcome'],
);
// Each from 0, as counters of closed lists.
for (const operation of OPERATIONS) for (const outcome of ['ok', 'error']) calls.zero({ operation, outcome });

/** Measures what a client of ours asks of Temporal. */
export function temporalCallMetrics(): WorkflowClientInterceptor {
  return {
    startWithDetails: (input, next) => measured('start', next(input)),
    startUpdate: (input, next) => measured('update', next(input)),
    startUpdateWithStart: (input, next) => measured('update_with_start', next(input)),
    signal: (input, next) => measured('signal', next(input)),
    query: (input, next) => measured('query', next(input)),
    describe: (input, next) => measured('describe', next(input)),
    cancel: (input, next) => measured('cancel', next(input)),
  };
}

async function measured<T>(operation: (typeof OPERATIONS)[number], call: Promise<T>): Promise<T> {
  const end = calls.startTimer({ operation });
  try {
    const answer = await call;
    end({ outcome: 'ok' });
    return answer;
  } catch (error) {
    // That it was started before is an answer.
    end({ outcome: error instanceof WorkflowExecutionAlreadyStartedError ? 'ok' : 'error' });
    throw error;
  }
}

const TICK_MS = 10;

const pools = new Map<string, () => PoolState>();
poolGauge(
  'goniec_database_pool_connections',
  'Database connections of this process; pool is the part of the service that uses them.',
  ({ idle, busy, connecting }) => ({ idle, busy, connecting }),
);
poolGauge(
  'goniec_database_pool_connections_max',
  'Database connections that this process may open (DATABASE_POOL). Besides, it has one to watch SECRETS_KEY, and one for METRICS_PORT.',
  ({ max }) => max,
);
poolGauge(
  'goniec_database_pool_waiting_statements',
  'Statements that wait for a database connection.',
  ({ waiting }) => waiting,
);

let longestSeconds = 0;
const block = new Gauge({
  name: 'goniec_longest_block_seconds',
  help: 'The longest computation since the last scrape during which this process answered nobody; time in which other processes had its core does not count.',
  registers: [registry],
  collect() {
    block.set(longestSeconds);
    longestSeconds = 0;
  },
});

/**
 * Shows a pool among the metrics until the returned function is called.
 * @param name the part of the service that uses it
 */
export function watchPool(name: string, look: () => PoolState): () => void {
  pools.set(name, look);
  return () => {
    if (pools.get(name) === look) pools.delete(name);
  };
}

/** Watches how long this process computes without a pause, until the returned function is called. */
export function watchBlocks(): () => void {
  let last = performance.now();
  let cpu = process.cpuUsage();
  // A timer that comes late waited for a computation, or the whole process for a core: then it used no time of one.
  const ticking = setInterval(() => {
    const now = performance.now();
    const { user, system } = process.cpuUsage(cpu);
    const late = Math.min(now - last - TICK_MS, (user + system) / 1000);
    longestSeconds = Math.max(longestSeconds, late / 1000);
    last = now;
    cpu = process.cpuUsage();
  }, TICK_MS).unref();
  return () => clearInterval(ticking);
}

/** @param read one figure of a pool, or one for each of its states */
function poolGauge(name: string, help: string, read: (pool: PoolState) => number | Record<string, number>) {
  const gauge = new Gauge({
    ...{ name, help, labelNames: ['pool', 'state'], registers: [registry] },
    collect() {
      gauge.reset();
      for (const [pool, look] of pools) {
        const figures = read(look());
        if (typeof figures === 'number') gauge.set({ pool }, figures);
        else for (const [state, figure] of Object.entries(figures)) gauge.set({ pool, state }, figure);
      }
    },
  });
}
