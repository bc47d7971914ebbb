import { Gauge } from 'prom-client';
import type { PoolState } from '../db/connection.ts';
import { registry } from './registry.ts';

const pools = new Map<string, () => PoolState>();

const connections = new Gauge({
  name: 'goniec_database_pool_connections',
  help: 'Database connections of this process; pool is the part of the service that uses them.',
  labelNames: ['pool', 'state'],
  registers: [registry],
  collect() {
    connections.reset();
    for (const [pool, look] of pools) {
      const { idle, busy, connecting } = look();
      connections.set({ pool, state: 'idle' }, idle);
      connections.set({ pool, state: 'busy' }, busy);
      connections.set({ pool, state: 'connecting' }, connecting);
    }
  },
});
const most = new Gauge({
  name: 'goniec_database_pool_connections_max',
  help: 'Database connections that this process may open (DATABASE_POOL). Besides, it has one to watch SECRETS_KEY, and one for METRICS_PORT.',
  labelNames: ['pool'],
  registers: [registry],
  collect() {
    most.reset();
    for (const [pool, look] of pools) most.set({ pool }, look().max);
  },
});
const waiting = new Gauge({
  name: 'goniec_database_pool_waiting_statements',
  help: 'Statements that wait for a database connection.',
  labelNames: ['pool'],
  registers: [registry],
  collect() {
    waiting.reset();
    for (const [pool, look] of pools) waiting.set({ pool }, look().waiting);
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
