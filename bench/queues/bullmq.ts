import { type ConnectionOptions, Queue } from 'bullmq';
import type { Sql } from '../../db/connection.ts';
import { setting } from '../steps/settings.ts';
import { QUEUES, RETRY, type ThenEnqueue } from './jobs.ts';

/** Where Redis is; a worker waits for one that is away, as BullMQ wants it. */
export const connection = (): ConnectionOptions => ({
  host: '127.0.0.1',
  port: Number(setting('REDIS_PORT')),
  maxRetriesPerRequest: null,
});

// Enough to look at what was lately done, as BullMQ advises for production; the rest is removed.
const KEPT = { count: 1000 };

/** Both queues, for putting jobs in. */
export function openQueues(sql: Sql): { thenEnqueue: ThenEnqueue; close(): Promise<void> } {
  const open = (name: string) => new Queue(name, { connection: connection() });
  const queues = { submit: open(QUEUES.submit), webhook: open(QUEUES.webhook) };
  return {
    // Redis knows nothing of the database's transactions: a crash in between loses the job.
    thenEnqueue: async (work) => {
      const job = await work(sql);
      if (job === null) return;
      await queues[job.queue].add(job.queue, job.data, {
        attempts: RETRY.limit,
        backoff: { type: 'exponential', delay: RETRY.seconds * 1000 },
        removeOnComplete: KEPT,
      });
    },
    async close() {
      await Promise.all(Object.values(queues).map((queue) => queue.close()));
    },
  };
}
