import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../db/ids.ts';
import { bundleWorkflows } from '../../worker/bundle.ts';
import { cancelUpdate } from '../../workflows/contracts.ts';
import { batchStart, gatheredStart, messageStart } from '../../workflows/startOptions.ts';
import { holdSubmits } from './heldSubmits.ts';
import { localSteps } from './markers.ts';
import { HOUR, pauseReconciliation, type Pipeline, startPipeline } from './pipeline.ts';
import { findingsOf, reconcileOnce, repairsOf, terminateForGood } from './reconciling.ts';
import { until } from '../support/eventually.ts';

// Single sends that ride together.
let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline('real');
  await pauseReconciliation(pipeline.client);
});
afterAll(() => pipeline?.close());

const handle = (id: string) => pipeline.client.workflow.getHandle(id);
const stateOf = async (id: string) => (await handle(id).describe()).status.name;
const closed = (id: string) => until(`${id} closes`, async () => (await stateOf(id)) !== 'RUNNING');

test('are charged each for itself and started like any message; what was refused has no workflow', async () => {
  const [rich, poor] = [await pipeline.account(), await pipeline.account({ balance: 20 })];
  const messages = [
    await pipeline.draft(rich),
    await pipeline.draft(poor),
    await pipeline.draft(poor),
    await pipeline.draft(rich, { sendAt: Date.now() + HOUR }),
  ];
  const [first, second, refused, later] = messages;
  const id = newId('acc');
  expect(await pipeline.acceptTogether(id, messages)).toEqual({
    accepted: expect.arrayContaining([first!.requestId, second!.requestId, later!.requestId]) as string[],
    refused: { [refused!.requestId]: 'insufficient_funds' },
    left: [],
  });
  for (const { id: message } of [first!, second!]) {
    await pipeline.untilStatus(message, 'delivered');
    await closed(message);
    expect(await pipeline.submits(message)).toBe(1);
  }
  await closed(id);
  expect(await handle(id).result()).toEqual({ accepted: 3, refused: 1, left: 0 });
  await expect(stateOf(refused!.id)).rejects.toThrow('not found');
  expect(await stateOf(later!.id)).toBe('RUNNING');
  await handle(later!.id).executeUpdate(cancelUpdate);
  expect([await pipeline.balance(rich), await pipeline.balance(poor)]).toEqual([985, 5]);
  const history = await handle(id).fetchHistory();
  expect(localSteps(history).map(({ name }) => name)).toEqual(['chargeTogether']);
  const bundle = await bundleWorkflows();
  await Worker.runReplayHistory({ workflowBundle: bundle }, history, id);
});

test('a submit that takes longer than a workflow task may keeps no caller waiting, and is made once', async () => {
  const account = await pipeline.account();
  const message = await pipeline.draft(account);
  const letGo = await holdSubmits(pipeline.sql);
  try {
    const { accepted } = await pipeline.acceptTogether(newId('acc'), [message]);
    expect(accepted).toEqual([message.requestId]);
    const [row] = await pipeline.sql`select status from messages where id = ${message.id}`;
    expect(row).toEqual({ status: 'queued' });
    expect(await pipeline.submits(message.id)).toBe(0);
  } finally {
    await letGo();
  }
  await pipeline.untilStatus(message.id, 'delivered');
  expect(await pipeline.submits(message.id)).toBe(1);
  expect(await pipeline.balance(account)).toBe(985);
});

test('messages of a batch are submitted once each, and replay as they were made, whichever way they went', async () => {
  const account = await pipeline.account();
  const bundle = await bundleWorkflows();
  const first = await pipeline.draft(account);
  const { requestId } = first;
  const ids = [first.id];
  for (const ending of ['001', '904']) ids.push((await pipeline.draft(account, { requestId, ending })).id);
  expect(await pipeline.acceptBatch(account, requestId, ids.length)).toEqual({ accepted: true });
  for (const id of ids) {
    await pipeline.untilStatus(id, 'delivered');
    await closed(id);
    expect(await pipeline.submits(id)).toBe(1);
    await Worker.runReplayHistory({ workflowBundle: bundle }, await handle(id).fetchHistory(), id);
  }
  expect(await pipeline.balance(account)).toBe(1000 - 3 * 15);
});

test('messages of a batch that run already are not started again, nor counted', async () => {
  const account = await pipeline.account();
  const sendAt = Date.now() + HOUR;
  const first = await pipeline.draft(account, { sendAt });
  for (let i = 0; i < 2; i += 1) await pipeline.draft(account, { sendAt, requestId: first.requestId });
  const before = await pipeline.client.workflow.start('message', messageStart(first, true));
  expect(await pipeline.acceptBatch(account, first.requestId, 3)).toEqual({ accepted: true });
  await closed(first.requestId);
  const { events } = await handle(first.requestId).fetchHistory();
  const [started] = events!.flatMap((e) => e.activityTaskCompletedEventAttributes?.result?.payloads ?? []);
  expect(JSON.parse(Buffer.from(started!.data!).toString())).toBe(2);
  expect((await handle(first.id).describe()).runId).toBe(before.firstExecutionRunId);
});

test('a message whose workflow an API of an earlier release starts goes through its route’s queue', async () => {
  const early = await pipeline.draft(await pipeline.account());
  const start = messageStart(early, false);
  const { accountId, requestId, route, sendAt, giveUpAt, priority, accepted } = start.args[0];
  const input = { accountId, requestId, route, sendAt, giveUpAt, priority, accepted };
  await pipeline.client.workflow.start('message', { ...start, args: [input] });
  await pipeline.untilStatus(early.id, 'delivered');
  await closed(early.id);
  const { events } = await handle(early.id).fetchHistory();
  const activities = events!.flatMap((e) => e.activityTaskScheduledEventAttributes?.activityType?.name ?? []);
  expect(activities).toEqual(['submit']);
  expect(await pipeline.submits(early.id)).toBe(1);
});

test('one says of itself what it is, without a number, a text or a name', async () => {
  const [one, other] = [await pipeline.account(), await pipeline.account()];
  const sendAt = Date.now() + HOUR;
  const drafts = [await pipeline.draft(one, { sendAt }), await pipeline.draft(other, { sendAt })];
  const start = gatheredStart(newId('acc'), drafts, 70);
  expect(start.staticSummary).toBe('2 single messages accepted together, of 2 accounts');
  expect(gatheredStart(newId('acc'), [drafts[0]!, drafts[0]!], null).staticSummary).toBe(
    '2 single messages accepted together',
  );
  expect(start.args).toEqual([{ requestIds: drafts.map(({ requestId }) => requestId), lastCallMs: 70 }]);
  // Those of one account take their turns as its.
  const ofOne = gatheredStart(newId('acc'), [drafts[0]!, drafts[0]!], null);
  expect(ofOne.priority).toEqual({ priorityKey: 3, fairnessKey: one });
  // Priority is everybody's where one has it: nobody waits longer for that.
  expect(start.priority).toEqual({ priorityKey: 3, fairnessKey: 'gathered' });
  const urgent = gatheredStart(newId('acc'), [{ ...drafts[0]!, priority: true }, drafts[1]!], null);
  expect(urgent.priority).toEqual({ priorityKey: 1, fairnessKey: 'gathered' });
});

test('decides by itself where the update was lost with the server that took it', async () => {
  const account = await pipeline.account();
  const message = await pipeline.draft(account);
  const id = newId('acc');
  await pipeline.client.workflow.start('gathered', gatheredStart(id, [message], null));
  await pipeline.untilStatus(message.id, 'delivered');
  expect(await pipeline.balance(account)).toBe(985);
  await closed(message.id);
});

test.each(['gathered', 'batch'] as const)('a cancel of a %s in Temporal interrupts nothing', async (type) => {
  const accountId = await pipeline.account();
  const message = await pipeline.draft(accountId);
  const { requestId } = message;
  const start =
    type === 'gathered'
      ? gatheredStart(newId('acc'), [message], null)
      : batchStart({ accountId, requestId, recipients: 1, priority: false });
  // Cancelled before its first task, so before its charge.
  const started = await pipeline.client.workflow.start(type, { ...start, startDelay: '2s' });
  await started.cancel();
  await pipeline.untilStatus(message.id, 'delivered');
  expect(await pipeline.balance(accountId)).toBe(985);
  await closed(message.id);
});

test('messages that run already, by a cancel that came before, are not started again', async () => {
  const account = await pipeline.account();
  const message = await pipeline.draft(account, { sendAt: Date.now() + HOUR });
  const before = await pipeline.client.workflow.start('message', messageStart(message, true));
  const id = newId('acc');
  await pipeline.acceptTogether(id, [message]);
  await closed(id);
  expect((await handle(message.id).describe()).runId).toBe(before.firstExecutionRunId);
});

describe('where the workflow that charged them is lost', () => {
  const aged = (ids: string[]) =>
    pipeline.sql`update messages set updated_at = now() - interval '6 minutes' where id = any(${ids})`;

  /** Charged together by a workflow that has not started them, and never will. */
  async function lost(count: number) {
    const account = await pipeline.account();
    const messages = [];
    for (let i = 0; i < count; i += 1)
      messages.push(await pipeline.draft(account, { sendAt: Date.now() + HOUR }));
    const id = newId('acc');
    const { chargeTogether } = await import('../../db/money/gathered.ts');
    await chargeTogether(
      pipeline.sql,
      id,
      messages.map(({ requestId }) => requestId),
    );
    // On a queue that nobody takes: it runs and gets nowhere.
    await pipeline.client.workflow.start('gathered', {
      ...gatheredStart(id, messages, null),
      taskQueue: 'nobody',
    });
    return { id, account, ids: messages.map((message) => message.id) };
  }

  test('messages wait for it while it runs, and are started again once it was ended, each charged once', async () => {
    const { id, account, ids } = await lost(3);
    await aged(ids);
    expect(await reconcileOnce(pipeline)).toEqual({ repaired: 0, reported: 0 });
    await terminateForGood(pipeline, id);
    expect(await reconcileOnce(pipeline)).toEqual({ repaired: 3, reported: 0 });
    for (const one of ids) {
      expect(await stateOf(one)).toBe('RUNNING');
      expect(await findingsOf(pipeline, one)).toEqual([
        { kind: 'workflow_lost', state: 'repaired', repairs: 1 },
      ]);
      expect(await repairsOf(pipeline, one)).toEqual(['message workflow started again']);
    }
    expect(await pipeline.balance(account)).toBe(1000 - 3 * 15);
  });

  test('they are found at once where it was ended by hand, without waiting for their turn', async () => {
    const { id, ids } = await lost(1);
    await terminateForGood(pipeline, id);
    expect(await reconcileOnce(pipeline)).toEqual({ repaired: 1, reported: 0 });
    expect(await stateOf(ids[0]!)).toBe('RUNNING');
  });
});
