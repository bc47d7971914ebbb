import { stopOnSignal } from '../steps/signals.ts';
import { ready } from '../steps/settings.ts';
import { QUEUES, type SubmitJob, type WebhookJob } from './jobs.ts';
import { openPgBoss, takeJobs } from './pgBoss.ts';
import { openWork } from './work.ts';

const { boss, sql, thenEnqueue } = await openPgBoss();
const work = await openWork(sql, thenEnqueue);
await takeJobs<SubmitJob>(boss, QUEUES.submit, (job) => work.submit(job));
await takeJobs<WebhookJob>(boss, QUEUES.webhook, (job) => work.webhook(job));
stopOnSignal(async () => {
  await boss.stop({ graceful: false });
  await work.stop();
  await sql.end({ timeout: 5 });
  process.exit();
});
ready();
