import PgBoss from 'pg-boss';
import { type Database, type Sql, transaction } from '../../db/connection.ts';
import { openPool } from '../steps/database.ts';
import { setting } from '../steps/settings.ts';
import { CONCURRENCY, QUEUES, RETRY, type ThenEnqueue } from './jobs.ts';

/** pg-boss on the database that the messages are in, and a pool for them. */
export async function openPgBoss(): Promise<{ boss: PgBoss; sql: Database; thenEnqueue: ThenEnqueue }> {
  const url = setting('DATABASE_URL');
  const boss = new PgBoss(url);
  boss.on('error', (error) => console.error(error));
  await boss.start();
  for (const name of Object.values(QUEUES)) {
    const retry = { retryLimit: RETRY.limit, retryDelay: RETRY.seconds, retryBackoff: true };
    await boss.createQueue(name, { name, ...retry });
  }
  const sql = openPool(url);
  const thenEnqueue: ThenEnqueue = (work) =>
    transaction(sql, async (tx) => {
      const job = await work(tx);
      if (job !== null) await boss.send(job.queue, job.data, { db: asPgBoss(tx) });
    });
  return { boss, sql, thenEnqueue };
}

/** A transaction of ours as pg-boss wants it, so that message and job are written together or not at all. */
function asPgBoss(sql: Sql): PgBoss.Db {
  return {
    async executeSql(text, values) {
      const bound = values.map((value: unknown) => (value === undefined ? null : value));
      return { rows: [...(await sql.unsafe(text, bound as never[], { prepare: true }))] };
    },
  };
}

// A worker fetches once in this time at the most, which is the shortest that pg-boss allows: what fetches more jobs per
// second is more workers and larger batches.
const POLL_SECONDS = 0.5;
const WORKERS = 8;

/** Takes jobs of a queue; each job of a batch succeeds or fails for itself. */
export async function takeJobs<T extends object>(
  boss: PgBoss,
  queue: string,
  work: (job: T) => Promise<void>,
): Promise<void> {
  const options = { batchSize: CONCURRENCY, pollingIntervalSeconds: POLL_SECONDS };
  for (let worker = 0; worker < WORKERS; worker += 1) {
    await boss.work<T>(queue, options, async (jobs) => {
      await Promise.all(
        jobs.map(({ id, data }) => work(data).catch((error: Error) => boss.fail(queue, id, error))),
      );
    });
  }
}
