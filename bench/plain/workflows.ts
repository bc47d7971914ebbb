import { condition, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';
import type { NewMessage } from './database.ts';
import type { activities } from './activities.ts';

export const reportSignal = defineSignal<[status: string]>('report');

const { charge, submit, storeAnswer, sendWebhook } = proxyActivities<ReturnType<typeof activities>>({
  startToCloseTimeout: '1 minute',
});

/** A message's life cycle in the way of Temporal's samples: one activity after the other, and a signal for the report. */
export async function plainMessage(message: NewMessage): Promise<string> {
  let reported: string | undefined;
  setHandler(reportSignal, (status) => void (reported = status));

  await charge(message);
  const providerId = await submit(message);
  const already = await storeAnswer(message.id, providerId);
  await sendWebhook(message.id, 'message.sent');
  if (!already) await condition(() => reported !== undefined, '72 hours');
  await sendWebhook(message.id, 'message.delivered');
  return reported ?? 'delivered';
}
