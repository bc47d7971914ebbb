import { afterAll, beforeAll, expect, test } from 'vitest';
import { emailEventsSignal } from '../../workflows/contracts.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/httpReceiver.ts';
import { localSteps } from './markers.ts';
import { mailAccount, notifiedOf, reportEmail, sendEmailOf, triesOf } from './emails.ts';
import { HOUR, type Pipeline, startPipeline } from './pipeline.ts';
import { until } from '../support/eventually.ts';

let pipeline: Pipeline;
let receiver: HttpReceiver;
beforeAll(async () => {
  receiver = await startHttpReceiver((response) => response.writeHead(204).end());
  pipeline = await startPipeline();
});
afterAll(async () => {
  await pipeline?.close();
  await receiver?.close();
});

test('after many events it goes on as a new run, which delivers what comes and ends at the same time', async () => {
  const account = await mailAccount(pipeline, { webhookUrl: receiver.url });
  const id = await sendEmailOf(pipeline, account);
  const handle = pipeline.client.workflow.getHandle(id);
  const untilNotified = (kinds: readonly string[]) =>
    until(`it is notified of ${kinds.join(', ')}`, async () => {
      const taken = (await notifiedOf(pipeline, id)).filter(({ state }) => state === 'delivered');
      return taken.map(({ kind }) => kind).join() === kinds.join();
    });
  await untilNotified(['sent', 'delivered']);
  const first = (await handle.describe()).runId;
  for (let i = 0; i < 41; i += 1)
    await Promise.all(Array.from({ length: 100 }, () => handle.signal(emailEventsSignal, [])));
  await reportEmail(pipeline, id, { kind: 'opened' });
  await until('it is a new run', async () => (await handle.describe()).runId !== first);
  await reportEmail(pipeline, id, { kind: 'clicked' });
  await untilNotified(['sent', 'delivered', 'opened', 'clicked']);
  await pipeline.sleep(73 * HOUR);
  await until('it closes', async () => (await handle.describe()).status.name === 'COMPLETED');
  // The new run neither charged nor handed anything over.
  const steps = localSteps(await handle.fetchHistory()).map(({ name }) => name);
  expect(steps).toContain('endEmail');
  expect(steps).not.toContain('charge');
  expect(await triesOf(pipeline, id)).toBe(1);
  expect(await pipeline.balance(account)).toBe(999);
});
