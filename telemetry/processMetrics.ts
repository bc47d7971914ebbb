import { Gauge } from 'prom-client';
import type { PoolState } from '../db/connection.ts';
import { registry } from './metrics.ts';

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

/** Exports a pool's metrics until the returned function is called. @param name the part of the service that uses it */
export function watchPool(name: string, look: () => PoolState): () => void {
  pools.set(name, look);
  return () => {
    if (pools.get(name) === look) pools.delete(name);
  };
}

/** Measures how long this process blocks its event loop, until the returned function is called. */
export function watchBlocks(): () => void {
  let last = performance.now();
  let cpu = process.cpuUsage();
  // A late timer waited for a computation, or the process waited for a core: then it used no CPU time.
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

// `read`: one figure of a pool, or one for each of its states.
function poolGauge(name: string, help: string, read: (pool: PoolState) => number | Record<string, number>) {
  const gauge = new Gauge({
    name,
    help,
    labelNames: ['pool', 'state'],
    registers: [registry],
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
