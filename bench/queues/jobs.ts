import type { Sql } from '../../db/connection.ts';

export const QUEUES = { submit: 'submit', webhook: 'webhook' } as const;

/** What is handed over to a worker. */
export interface SubmitJob {
  id: string;
}
export interface WebhookJob {
  id: string;
  type: string;
}
export type Job = { queue: 'submit'; data: SubmitJob } | { queue: 'webhook'; data: WebhookJob };

/** Tries of a job, seconds before the second one; doubled after each. */
export const RETRY = { limit: 5, seconds: 2 };
/** Jobs of a queue under way at once in the worker process. */
export const CONCURRENCY = 100;

/**
 * Runs statements and enqueues the job that they give rise to, if any: in the same transaction where the queue is in the
 * same database, else afterwards.
 */
export type ThenEnqueue = (work: (sql: Sql) => Promise<Job | null>) => Promise<void>;
