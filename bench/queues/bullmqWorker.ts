import { Worker } from 'bullmq';
import { openPool } from '../steps/database.ts';
import { stopOnSignal } from '../steps/signals.ts';
import { ready, setting } from '../steps/settings.ts';
import { connection, openQueues } from './bullmq.ts';
import { CONCURRENCY, QUEUES, type SubmitJob, type WebhookJob } from './jobs.ts';
import { openWork } from './work.ts';

const sql = openPool(setting('DATABASE_URL'));
const queues = openQueues(sql);
const work = await openWork(sql, queues.thenEnqueue);
const options = { connection: connection(), concurrency: CONCURRENCY };
const workers = [
  new Worker<SubmitJob>(QUEUES.submit, ({ data }) => work.submit(data), options),
  new Worker<WebhookJob>(QUEUES.webhook, ({ data }) => work.webhook(data), options),
];
for (const worker of workers) worker.on('error', (error) => console.error(error));
await Promise.all(workers.map((worker) => worker.waitUntilReady()));
stopOnSignal(async () => {
  await Promise.all(workers.map((worker) => worker.close()));
  await work.stop();
  await queues.close();
  await sql.end({ timeout: 5 });
});
ready();
