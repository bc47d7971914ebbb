import { afterAll, beforeAll, expect, test } from 'vitest';
import { cancelUpdate } from '../../workflows/contracts.ts';
import { HOUR, type Pipeline, startPipeline } from './pipeline.ts';

let pipeline: Pipeline;
beforeAll(async () => (pipeline = await startPipeline()));
afterAll(() => pipeline?.close());

// The server's clock goes on while the cancel is on its way: it has a second for that, and in message.test.ts minutes.
test('a scheduled message is cancelled still 31 s before its time', async () => {
  const account = await pipeline.account();
  const sendAt = (await pipeline.now()) + HOUR;
  const { id } = await pipeline.send(account, { sendAt });
  await pipeline.sleep(sendAt - 31_000 - (await pipeline.now()));
  await pipeline.client.workflow.getHandle(id).executeUpdate(cancelUpdate);
  await pipeline.untilStatus(id, 'cancelled');
  expect(await pipeline.balance(account)).toBe(1000);
});
