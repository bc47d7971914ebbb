import type { Database, Sql } from '../../db/connection.ts';
import { openProvider } from '../steps/provider.ts';
import { conclude, readMessage, storeAnswer, storeReport } from '../steps/database.ts';
import { createWebhook } from '../steps/webhook.ts';
import { type Job, type SubmitJob, type ThenEnqueue, type WebhookJob } from './jobs.ts';

/** What the jobs of both queues do; the queues differ in how a job is enqueued and fetched. */
export interface Work {
  submit(job: SubmitJob): Promise<void>;
  webhook(job: WebhookJob): Promise<void>;
  stop(): Promise<void>;
}

/** Opens provider and webhook client. Of answer and report, whichever is stored last ends the message. */
export async function openWork(sql: Database, thenEnqueue: ThenEnqueue): Promise<Work> {
  const webhook = createWebhook();
  const provider = await openProvider(async (providerId, status) => {
    await storeReport(sql, providerId, status);
    await thenEnqueue((tx) => concluded(tx, providerId));
  });
  return {
    async submit({ id }) {
      const message = await readMessage(sql, id);
      // A job that is run again after its end changes nothing.
      if (message.status !== 'queued') return;
      const providerId = await provider.submit(message);
      await thenEnqueue(async (tx) => {
        await storeAnswer(tx, id, providerId);
        return { queue: 'webhook', data: { id, type: 'message.sent' } };
      });
      await thenEnqueue((tx) => concluded(tx, providerId));
    },
    async webhook({ id, type }) {
      await webhook.post(await readMessage(sql, id), type);
    },
    stop: () => provider.stop(),
  };
}

async function concluded(tx: Sql, providerId: string): Promise<Job | null> {
  const id = await conclude(tx, providerId);
  return id === null ? null : { queue: 'webhook', data: { id, type: 'message.delivered' } };
}
