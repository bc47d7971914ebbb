import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOutcomes } from '../../activities/outcomes.ts';
import { createReceipts } from '../../activities/receipts.ts';
import { takeOutcomes } from '../../db/incoming/outcomes.ts';
import { newId } from '../../db/ids.ts';
import { startDatabase } from '../support/database.ts';
import { type Pipeline, startPipeline, until } from './pipeline.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline('real');
}, 120_000);
afterAll(() => pipeline?.close(), 60_000);

test('a workflow of an older worker, which knows no such update, is signalled', async () => {
  const connection = await NativeConnection.connect({ address: pipeline.address });
  const worker = await Worker.create({
    connection,
    taskQueue: 'deaf',
    workflowsPath: fileURLToPath(new URL('deafWorkflow.ts', import.meta.url)),
  });
  await worker.runUntil(async () => {
    const { id } = await pipeline.draft(await pipeline.account());
    const options = { workflowId: id, taskQueue: 'deaf' };
    const workflow = await pipeline.client.workflow.start('deaf', options);
    await pipeline.sql`
      insert into outcome_signals (message_id, status, event_ids) values (${id}, 'delivered', '{}')`;
    expect(await workflow.result()).toEqual({ status: 'delivered', events: [] });
    await until('that is forgotten', async () => (await waiting(id)) === 0);
  });
  await connection.close();
});

test('what is being told when a worker ends is left to others at once', async () => {
  const { sql, stop } = await startDatabase();
  const id = newId('msg');
  await sql`insert into accounts (id, name, mode) values ('cl_a', 'A', 'live')`;
  await sql`
    insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze,
                          give_up_at, carrier, submission)
    values (${id}, 'cl_a', 'req_a', 'sent', 'queued', '+48500100100', 'x', 1, 15, now() + interval '3 days', 'r', 'answered')`;
  await sql`insert into outcome_signals (message_id, status, event_ids) values (${id}, 'delivered', '{}')`;
  // Nobody takes its tasks.
  await pipeline.client.workflow.start('message', { workflowId: id, taskQueue: 'nobody' });
  const errors: unknown[] = [];
  const outcomes = createOutcomes({
    ...{ sql, client: pipeline.client, tellEvents: null },
    onError: (error) => errors.push(error),
  });
  await outcomes.tell();
  expect(await takeOutcomes(sql, 1)).toEqual([]);
  await outcomes.stop();
  expect(await takeOutcomes(sql, 1)).toMatchObject([{ messageId: id, status: 'delivered' }]);
  expect(errors).toEqual([]);
  await pipeline.client.workflow.getHandle(id).terminate();
  await stop();
});

test('a report that misses its answer by a moment is looked at again within that moment', async () => {
  const message = await pipeline.draft(await pipeline.account(), { ending: '903' });
  await pipeline.accept(message);
  await pipeline.untilStatus(message.id, 'sent');
  const [part] = await pipeline.sql<{ id: string }[]>`
    update message_parts set carrier_message_id = 'later' from message_parts before
     where message_parts.message_id = ${message.id} and before.message_id = ${message.id}
    returning before.carrier_message_id as id`;
  const receipts = createReceipts(pipeline.sql, { tell: () => Promise.resolve() }, console.error);
  await receipts.receive('simulator', [
    { carrierMessageId: part!.id, reference: null, state: 'delivered', errorCode: null },
  ]);
  const due = async (): Promise<number> => {
    const [report] = await pipeline.sql<{ ms: number }[]>`
      select extract(epoch from look_at - received_at)::float8 * 1000 as ms from delivery_reports
       where carrier_message_id = ${part!.id}`;
    return report!.ms;
  };
  expect(await due()).toBeLessThan(1_000);
  await pipeline.sql`update message_parts set carrier_message_id = ${part!.id} where message_id = ${message.id}`;
  await pipeline.untilStatus(message.id, 'delivered');
  receipts.stop();
});

async function waiting(id: string): Promise<number> {
  return (await pipeline.sql`select from outcome_signals where message_id = ${id}`).length;
}
