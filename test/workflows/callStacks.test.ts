import { afterEach, expect, test } from 'vitest';
import { HOUR, type Pipeline, startPipeline } from './pipeline.ts';

let pipeline: Pipeline | undefined;
afterEach(async () => {
  await pipeline?.close();
  pipeline = undefined;
});

async function callStackOfSleeping(settings: { WORKFLOW_CALL_STACKS?: boolean }): Promise<string> {
  pipeline = await startPipeline('time-skipping', settings);
  const sendAt = (await pipeline.now()) + HOUR;
  const message = await pipeline.send(await pipeline.account(), { sendAt });
  return await pipeline.client.workflow.getHandle(message.id).query<string>('__stack_trace');
}

test('where a workflow waits is shown', async () => {
  expect(await callStackOfSleeping({})).toMatch(/at condition .*\n(.*\n)*.*workflows\/message\.ts:\d+/);
});

test('WORKFLOW_CALL_STACKS=false keeps no call stacks', async () => {
  expect(await callStackOfSleeping({ WORKFLOW_CALL_STACKS: false })).not.toContain('workflows/message.ts');
});
