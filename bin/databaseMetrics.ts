import { Gauge, type Registry } from 'prom-client';
import { waitFor } from '../concurrency/waitFor.ts';
import type { Database, Sql } from '../db/connection.ts';
import { countOpenFindings } from '../db/maintenance/findings.ts';
import { readRegularWork } from '../db/maintenance/regularWork.ts';
import { readBacklog } from '../db/money/reservations.ts';
import { readQueues, readWatched } from '../db/routes/routeOverview.ts';
import { ping } from '../db/setup.ts';
import { readWithin } from '../db/transaction.ts';
import { backlogMetrics } from './backlogMetrics.ts';
import { findingMetrics } from './findingMetrics.ts';
import { regularWorkMetrics } from './regularWorkMetrics.ts';
import { routeMetrics } from './routeMetrics.ts';

// For all of it: who scrapes waits for ten seconds.
const TIMEOUT_MS = 5_000;
// For what is read in no time unless somebody has it locked: that must not keep the rest from being read.
const QUICK_MS = 1_000;

/**
 * Writes what the database knows into a fresh registry, within five seconds. It is up once it answers at all; what cannot be read
 * then is left out, and the rest is there.
 */
export async function databaseMetrics(
  sql: Database,
  registry: Registry,
  onError: (error: unknown) => void,
): Promise<void> {
  const until = Date.now() + TIMEOUT_MS;
  const up = new Gauge({
    name: 'goniec_database_up',
    help: 'Whether the database answered.',
    registers: [registry],
  });
  try {
    await inTime(ping(sql), until);
    up.set(1);
  } catch (error) {
    onError(error);
    up.set(0);
    return;
  }
  const read = async <T>(reading: (tx: Sql) => Promise<T>, ms = QUICK_MS): Promise<T | null> => {
    const end = Math.min(until, Date.now() + ms);
    try {
      return await inTime(readWithin(sql, timeLeft(end), reading), end);
    } catch (error) {
      onError(error);
      return null;
    }
  };
  const routes = await read((tx) => readWatched(tx));
  const findings = await read(countOpenFindings);
  const work = await read(readRegularWork);
  const backlog = await read(readBacklog);
  // Last, as it takes the longer the more there is.
  const queues = await read((tx) => readQueues(tx), TIMEOUT_MS);
  if (routes !== null) {
    routeMetrics(
      routes.map((route) => ({ ...route, ...queues?.get(route.name) })),
      registry,
    );
  }
  if (backlog !== null) backlogMetrics(backlog, registry);
  if (findings !== null) findingMetrics(findings, registry);
  if (work !== null) regularWorkMetrics(work, registry);
}

// A database that is not there at all does not even time a statement out.
async function inTime<T>(work: Promise<T>, until: number): Promise<T> {
  return await waitFor(work, timeLeft(until), () => {
    throw new Error('metrics: the database did not answer in time');
  });
}

// 0 would be no limit at all.
function timeLeft(until: number): number {
  return Math.max(until - Date.now(), 1);
}
