import type { Database, Sql } from '../../db/connection.ts';
import { openCarrier } from '../steps/carrier.ts';
import { conclude, readMessage, storeAnswer, storeReport } from '../steps/database.ts';
import { createWebhook } from '../steps/webhook.ts';
import { type Job, type SubmitJob, type ThenEnqueue, type WebhookJob } from './jobs.ts';

/** What the jobs of both queues do; the queues differ in how a job is enqueued and fetched. */
export interface Work {
  submit(job: SubmitJob): Promise<void>;
  webhook(job: WebhookJob): Promise<void>;
  stop(): Promise<void>;
}

/** Opens carrier and webhook client. Of answer and report, whichever is stored last ends the message. */
export async function openWork(sql: Database, thenEnqueue: ThenEnqueue): Promise<Work> {
  const webhook = createWebhook();
  const carrier = await openCarrier(async (carrierId, status) => {
    await storeReport(sql, carrierId, status);
    await thenEnqueue((tx) => concluded(tx, carrierId));
  });
  return {
    async submit({ id }) {
      const message = await readMessage(sql, id);
      // A job that is run again after its end changes nothing.
      if (message.status !== 'queued') return;
      const carrierId = await carrier.submit(message);
      await thenEnqueue(async (tx) => {
        await storeAnswer(tx, id, carrierId);
        return { queue: 'webhook', data: { id, type: 'message.sent' } };
      });
      await thenEnqueue((tx) => concluded(tx, carrierId));
    },
    async webhook({ id, type }) {
      await webhook.post(await readMessage(sql, id), type);
    },
    stop: () => carrier.stop(),
  };
}

async function concluded(tx: Sql, carrierId: string): Promise<Job | null> {
  const id = await conclude(tx, carrierId);
  return id === null ? null : { queue: 'webhook', data: { id, type: 'message.delivered' } };
}
