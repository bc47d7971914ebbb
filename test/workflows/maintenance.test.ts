import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure, rootCause } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { maintenanceActivities, notingSuccess } from '../../activities/maintenance.ts';
import { idFloor, newId } from '../../db/ids.ts';
import { expectRegularWork, readRegularWork } from '../../db/maintenance/regularWork.ts';
import { ensureSchedules } from '../../worker/schedules.ts';
import { MESSAGES_QUEUE } from '../../workflows/contracts.ts';
import { workflowBundle } from '../../worker/bundle.ts';
import { type Pipeline, startPipeline } from './pipeline.ts';
import { until } from '../support/eventually.ts';

const DAY = 86_400_000;
// More than a statement takes.
const MESSAGES = 4_500;

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline('real');
});
afterAll(() => pipeline?.close());

/** Messages that were delivered 50 days ago, with one reply. */
async function longAgo(): Promise<void> {
  const { sql } = pipeline;
  const account = await pipeline.account();
  const at = new Date(Date.now() - 50 * DAY);
  await sql`
    insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze, give_up_at, route,
                          created_at, delivered_at)
    select ${idFloor('msg', at.getTime())} || lpad(n::text, 16, '0'), ${account}, ${idFloor('req', at.getTime())} || lpad('', 16, '0'),
           'delivered', 'queued', '+48500100200', 'Poufne', 1, 15, ${at}, 'simulator', ${at}, ${at}
      from generate_series(1, ${MESSAGES}::int) n`;
  await sql`
    insert into inbound_messages (id, route, provider_reference, sender, received_text, state)
    values (${idFloor('in', at.getTime()) + '0'.repeat(16)}, 'x', '1', '+48500100200', 'Poufne', 'unmatched')`;
}

/** Runs a workflow with steps of a test's own. */
async function runWith(workflow: string, activities: object): Promise<unknown> {
  const connection = await NativeConnection.connect({ address: pipeline.address });
  const taskQueue = newId('req');
  const worker = await Worker.create({
    ...{ connection, namespace: pipeline.namespace, taskQueue, activities },
    workflowBundle: await workflowBundle(),
  });
  try {
    return await worker.runUntil(() =>
      pipeline.client.workflow.execute(workflow, { workflowId: taskQueue, taskQueue }),
    );
  } finally {
    await connection.close();
  }
}

test('a night’s retention goes on until nothing is left', async () => {
  await longAgo();
  const steps = maintenanceActivities(pipeline.sql, { contentDays: 40, logDays: 90 });
  const erased = await runWith('retention', steps);
  expect(erased).toEqual({
    ...{ postponed: 0, messages: MESSAGES, replies: 1, clicks: 0, lookups: 0, verifications: 0, emails: 0 },
  });
  const [left] = await pipeline.sql`select count(*)::int as count from messages where text <> ''`;
  expect(left).toEqual({ count: 0 });
});

test('a step of the reconciliation that fails keeps none of the others from being done, and fails the run', async () => {
  const done: string[] = [];
  const step = (name: string) => () => {
    done.push(name);
    return Promise.resolve({ looked: 1, repaired: 0, reported: 0 });
  };
  const broken = () => Promise.reject(ApplicationFailure.nonRetryable('broken'));
  const failure: unknown = await runWith('reconciliation', {
    ...{ reconcileOpen: broken, reconcileEvents: step('events') },
    ...{ reconcileLeftovers: step('leftovers'), reconcileLedgers: step('ledgers') },
  }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(WorkflowFailedError);
  expect(rootCause((failure as WorkflowFailedError).cause)).toBe('broken');
  expect(done).toEqual(['events', 'leftovers', 'ledgers']);
});

test('documents are made even where statements cannot be issued, which fails the run', async () => {
  let documented = 0;
  const failure: unknown = await runWith('statements', {
    issueStatements: () => Promise.reject(ApplicationFailure.nonRetryable('broken')),
    documentStatements: () => Promise.resolve((documented += 1)),
  }).catch((error: unknown) => error);
  expect(rootCause((failure as WorkflowFailedError).cause)).toBe('broken');
  expect(documented).toBe(1);
});

describe('success of regular work', () => {
  const HOUR = 3_600;
  const states = async () =>
    new Map((await readRegularWork(pipeline.sql)).map((state) => [state.activity, state]));
  const age = () =>
    pipeline.sql`update regular_work set succeeded_at = succeeded_at - make_interval(secs => ${HOUR})`;

  test('is expected of each step of each schedule once a worker runs, and noted when a run has had it', async () => {
    const { client } = pipeline;
    await until('the worker has said what it does', async () => (await states()).size > 0);
    await ensureSchedules(client);
    const scheduled: string[] = [];
    for await (const { scheduleId } of client.schedule.list()) scheduled.push(scheduleId);
    const expected = [...(await states()).values()];
    expect(new Set(expected.map(({ schedule }) => schedule))).toEqual(new Set(scheduled));
    expect(expected.map(({ activity, intervalSeconds }) => [activity, intervalSeconds]).sort()).toEqual([
      ['checkSenderDomains', 3_600],
      ['deleteLeftovers', 3_600],
      ['documentStatements', 86_400],
      ['eraseContents', 86_400],
      ['issueStatements', 86_400],
      ...['reconcileEvents', 'reconcileLedgers', 'reconcileLeftovers', 'reconcileOpen'].map((step) => [
        step,
        600,
      ]),
    ]);

    await age();
    for (const workflow of ['cleanUp', 'retention', 'senderDomains', 'reconciliation', 'statements'])
      await client.workflow.execute(workflow, { workflowId: newId('req'), taskQueue: MESSAGES_QUEUE });
    for (const { activity, secondsSinceSuccess } of (await states()).values())
      expect(secondsSinceSuccess, activity).toBeLessThan(HOUR);
  });

  test('is not noted for a step that fails, and what is expected anew keeps its last one', async () => {
    await pipeline.client.schedule.getHandle('reconciliation').pause();
    await age();
    const step = () => Promise.resolve({ looked: 1, repaired: 0, reported: 0 });
    const broken = () => Promise.reject(ApplicationFailure.nonRetryable('broken'));
    const steps = notingSuccess(pipeline.sql, {
      ...{ reconcileOpen: step, reconcileEvents: step },
      ...{ reconcileLeftovers: step, reconcileLedgers: broken },
    });
    await runWith('reconciliation', steps).catch(() => undefined);
    const noted = await states();
    expect(noted.get('reconcileOpen')?.secondsSinceSuccess).toBeLessThan(HOUR);
    expect(noted.get('reconcileLedgers')?.secondsSinceSuccess).toBeGreaterThanOrEqual(HOUR);

    const gone = { activity: 'ofAnEarlierRelease', schedule: 'clean-up', intervalSeconds: HOUR };
    await expectRegularWork(pipeline.sql, [...noted.values(), gone]);
    expect((await states()).get('ofAnEarlierRelease')?.secondsSinceSuccess).toBeLessThan(HOUR);
    await expectRegularWork(pipeline.sql, [...noted.values()]);
    const again = await states();
    expect(again.has('ofAnEarlierRelease')).toBe(false);
    expect(again.get('reconcileLedgers')?.secondsSinceSuccess).toBeGreaterThanOrEqual(HOUR);
  });
});
