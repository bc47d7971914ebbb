import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createOutcomes, type Outcomes } from '../../pipeline/outcomes.ts';
import { createDeliveryReports } from '../../pipeline/deliveryReports.ts';
import type { Database } from '../../db/connection.ts';
import { takeOutcomes } from '../../db/incoming/outcomes.ts';
import { newId } from '../../db/ids.ts';
import type { Notified } from '../../workflows/contracts.ts';
import { startDatabase } from '../support/database.ts';
import { writeMessage } from '../support/messages.ts';
import { type Pipeline, startPipeline } from './pipeline.ts';
import { until } from '../support/eventually.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline('real');
});
afterAll(() => pipeline?.close());

test('a workflow of an older worker, which knows no such update, is signalled', async () => {
  const connection = await NativeConnection.connect({ address: pipeline.address });
  const worker = await Worker.create({
    connection,
    namespace: pipeline.namespace,
    taskQueue: 'deaf',
    workflowsPath: fileURLToPath(new URL('deafWorkflow.ts', import.meta.url)),
  });
  await worker.runUntil(async () => {
    const { id } = await pipeline.message(await pipeline.account());
    const options = { workflowId: id, taskQueue: 'deaf' };
    const workflow = await pipeline.client.workflow.start('deaf', options);
    await pipeline.sql`
      insert into outcome_signals (message_id, status, event_ids) values (${id}, 'delivered', '{}')`;
    expect(await workflow.result()).toEqual({ status: 'delivered', events: [] });
    await until('that is forgotten', async () => (await waiting(id)) === 0);
  });
  await connection.close();
});

describe('outcomes of another database, whose workflows nobody takes up', () => {
  let sql: Database;
  let stop: () => Promise<void>;
  let outcomes: Outcomes;
  let left: Notified;
  let asked: string[];
  /** The workflows that an update was sent to, in order. */
  let updated: string[];
  const errors: unknown[] = [];
  beforeEach(async () => {
    ({ sql, stop } = await startDatabase());
    await sql`insert into accounts (id, name, mode) values ('cl_a', 'A', 'live')`;
    [left, asked, updated] = [[], [], []];
    outcomes = createOutcomes({
      ...{ sql, client: watched((id) => updated.push(id)), onError: (error) => errors.push(error) },
      notifyEvents: (events) => {
        asked.push(...events);
        return Promise.resolve(left);
      },
    });
  });
  afterEach(async () => {
    await outcomes.stop();
    await stop();
    expect(errors).toEqual([]);
  });

  /** The pipeline's client, whose updates are seen. */
  const watched = (onUpdate: (id: string) => void): Client =>
    new Client({
      connection: pipeline.client.connection,
      namespace: pipeline.namespace,
      interceptors: {
        workflow: [
          {
            startUpdate(input, next) {
              onUpdate(input.workflowExecution.workflowId);
              return next(input);
            },
          },
        ],
      },
    });

  /** Messages that were delivered, of which their workflows have still to hear. */
  async function note(ids: string[], events: string[] = []): Promise<void> {
    for (const id of ids) {
      await writeMessage(sql, { id, status: 'delivered', submission: 'answered', route: 'r' });
      await sql`
        insert into outcome_signals (message_id, status, event_ids) values (${id}, 'delivered', ${events}::text[])`;
    }
  }

  const untilAllNotified = () =>
    until('all are told', async () => (await sql`select from outcome_signals`).length === 0);

  test('are left to other workers at once when this one ends', async () => {
    const id = newId('msg');
    await note([id]);
    const workflow = await pipeline.client.workflow.start('message', { workflowId: id, taskQueue: 'nobody' });
    await outcomes.dispatch();
    expect(await takeOutcomes(sql, 1, [])).toEqual([]);
    await outcomes.stop();
    expect(await takeOutcomes(sql, 1, [])).toMatchObject([{ messageId: id, status: 'delivered' }]);
    await workflow.terminate();
  });

  test('are signalled when no update comes to its end in time, and so are others for a while', async () => {
    const ids = [newId('msg'), newId('msg')];
    const start = (workflowId: string) =>
      pipeline.client.workflow.start('message', { workflowId, taskQueue: 'nobody' });
    const workflows = await Promise.all(ids.map(start));
    await note(ids.slice(0, 1));
    await outcomes.dispatch();
    await untilAllNotified();
    await note(ids.slice(1));
    await outcomes.dispatch();
    await untilAllNotified();
    for (const workflow of workflows) {
      const { events } = await workflow.fetchHistory();
      expect(events!.filter((event) => event.workflowExecutionSignaledEventAttributes)).toHaveLength(1);
      await workflow.terminate();
    }
    // An update was tried for the first one alone.
    expect(updated).toEqual(ids.slice(0, 1));
  });

  test('many of them are told by one call, each once; of workflows that are gone nothing is left', async () => {
    const ids = Array.from({ length: 150 }, () => newId('msg'));
    left = [null];
    for (const id of ids) await note([id], [`evt of ${id}`]);
    await outcomes.dispatch();
    await untilAllNotified();
    expect(asked.sort()).toEqual(ids.map((id) => `evt of ${id}`).sort());
  });

  test('a second one of a message follows the first one', async () => {
    const id = newId('msg');
    await note([id]);
    await sql`insert into outcome_signals (message_id, status, event_ids) values (${id}, 'failed', '{}')`;
    await outcomes.dispatch();
    await untilAllNotified();
  });
});

test('a report that misses its answer by a moment is looked at again', async () => {
  const message = await pipeline.message(await pipeline.account(), { ending: '903' });
  await pipeline.start(message);
  await pipeline.untilStatus(message.id, 'sent');
  const [part] = await pipeline.sql<{ id: string }[]>`
    update message_parts set provider_message_id = 'later' from message_parts before
     where message_parts.message_id = ${message.id} and before.message_id = ${message.id}
    returning before.provider_message_id as id`;
  const deliveryReports = createDeliveryReports(
    pipeline.sql,
    { dispatch: () => Promise.resolve() },
    console.error,
  );
  await deliveryReports.receive('simulator', [
    { providerMessageId: part!.id, reference: null, state: 'delivered', errorCode: null },
  ]);
  await pipeline.sql`update message_parts set provider_message_id = ${part!.id} where message_id = ${message.id}`;
  await pipeline.untilStatus(message.id, 'delivered');
  deliveryReports.stop();
});

async function waiting(id: string): Promise<number> {
  return (await pipeline.sql`select from outcome_signals where message_id = ${id}`).length;
}
