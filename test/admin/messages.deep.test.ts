import { afterAll, beforeAll, expect, test } from 'vitest';
import { cancelSignal } from '../../workflows/contracts.ts';
import { lockRow } from '../crash/holds.ts';
import { pauseSchedule, type Pipeline, startPipeline } from '../workflows/pipeline.ts';
import { pipelineLine } from './support.ts';

// Where the server gives out another task meanwhile, of its own accord, nothing is thrown away.
const TRIES = 5;

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline('real');
  await pauseSchedule(pipeline.client);
});
afterAll(() => pipeline?.close());

const { ok } = pipelineLine(() => pipeline);

async function taskFailures(id: string): Promise<number> {
  const { events } = await pipeline.client.workflow.getHandle(id).fetchHistory();
  return (events ?? []).filter(({ workflowTaskFailedEventAttributes: failed }) => failed).length;
}

/** @returns how many of its workflow's tasks the server has thrown away */
async function decideWhileSignalled(): Promise<number> {
  const account = await pipeline.account();
  const { id } = await pipeline.send(account, { ending: '905' });
  await pipeline.untilUnanswered(id);
  const lock = await lockRow(pipeline.sql, 'message', id);
  const decided = ok('messages', 'give-up', '--id', id);
  await lock.untilWaitedFor();
  // Comes while the task is under way that would end the workflow: it cannot end then.
  await pipeline.client.workflow.getHandle(id).signal(cancelSignal);
  await lock.release();
  expect(await decided).toEqual({ id, carried_out: true });
  await pipeline.client.workflow.getHandle(id).result();
  expect(await ok('ledger', '--account', account)).toMatchObject({ balance_grosze: 1000, agrees: true });
  return await taskFailures(id);
}

test('a decision whose workflow task the server throws away is told to the workflow again', async () => {
  let thrownAway = 0;
  for (let time = 1; time <= TRIES && thrownAway === 0; time += 1) thrownAway = await decideWhileSignalled();
  expect(thrownAway).toBeGreaterThan(0);
});
