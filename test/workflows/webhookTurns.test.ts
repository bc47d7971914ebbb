import { afterAll, beforeAll, expect, test } from 'vitest';
import { messageStart } from '../../workflows/startOptions.ts';
import { startReceiver } from '../support/webhookReceiver.ts';
import { type Pipeline, startPipeline } from './pipeline.ts';
import { receiveReplies, startReply } from './replies.ts';
import { until } from '../support/eventually.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline('real');
});
afterAll(() => pipeline.close());

/** With what priority the workflow had its receiver notified. */
async function turnOf(workflowId: string): Promise<unknown> {
  const handle = pipeline.client.workflow.getHandle(workflowId);
  const attempts = async () =>
    ((await handle.fetchHistory()).events ?? []).flatMap(({ activityTaskScheduledEventAttributes: task }) =>
      task?.activityType?.name === 'deliverWebhook' ? [task.priority] : [],
    );
  await until('its receiver is notified', async () => (await attempts()).length > 0);
  const [priority] = await attempts();
  return { priorityKey: priority?.priorityKey, fairnessKey: priority?.fairnessKey };
}

test('the webhooks of a priority message go before nobody else’s', async () => {
  const receiver = await startReceiver();
  const account = await pipeline.account({ webhookUrl: receiver.url });
  const message = await pipeline.message(account);
  await pipeline.sql`update messages set status = accepted_as where id = ${message.id}`;
  await pipeline.client.workflow.start('message', messageStart({ ...message, priority: true }));
  expect(await turnOf(message.id)).toMatchObject({ priorityKey: 3 });
  await receiver.close();
});

test('replies are notified of in the turn of their account, not all in one', async () => {
  const receiver = await startReceiver();
  const account = await pipeline.account({ webhookUrl: receiver.url });
  await receiveReplies(pipeline, account, 'KOLEJ');
  const id = await startReply(pipeline, '+48500100200', 'KOLEJ tak');
  expect(await turnOf(id)).toEqual({ priorityKey: 3, fairnessKey: account });
  await receiver.close();
});
