import { afterAll, beforeAll, expect, test } from 'vitest';
import { listFindings } from '../../db/maintenance/findings.ts';
import { startReceiver } from '../support/webhookReceiver.ts';
import { ageEvents } from '../support/lateEvents.ts';
import { reportDelivered } from './deliveryReports.ts';
import { HOUR, pauseReconciliation, type Pipeline, startPipeline } from './pipeline.ts';
import { reconcileOnce, removeWorkflow } from './reconciling.ts';
import { until } from '../support/eventually.ts';

const CAP = 3;

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline('real', { RECONCILE_RESTARTS: CAP });
  await pauseReconciliation(pipeline.client);
});
afterAll(() => pipeline?.close());

const reconcile = () => reconcileOnce(pipeline);

async function accepted(options: object, account: object = {}): Promise<string> {
  const message = await pipeline.message(await pipeline.account(account), options);
  await pipeline.start(message);
  return message.id;
}

const cappedFinding = async () =>
  (await listFindings(pipeline.sql, { account: null, state: null }, 1000)).find(
    ({ kind }) => kind === 'restarts_capped',
  );

async function submits(ids: string[]): Promise<number[]> {
  return await Promise.all(
    ids.map(async (id) => {
      const [found] = await pipeline.sql<{ n: number }[]>`
        select count(*)::int as n from simulator_submits where reference like ${id + '/%'}`;
      return found!.n;
    }),
  );
}

async function charges(ids: string[]): Promise<number[]> {
  const rows = await pipeline.sql<{ sum: number }[]>`
    select sum(amount_grosze)::int as sum from ledger_entries where subject_id = any(${ids}) group by subject_id`;
  return rows.map(({ sum }) => sum);
}

test('where all workflows are lost, a run starts no more than it may; none of their parts is submitted again', async () => {
  const sent = await Promise.all([1, 2, 3, 4].map(() => accepted({ ending: '903' })));
  const unanswered = await Promise.all([1, 2].map(() => accepted({ ending: '905' })));
  const sleeping = await Promise.all([1, 2].map(() => accepted({ sendAt: Date.now() + HOUR })));
  const all = [...sent, ...unanswered, ...sleeping];
  for (const id of sent) await pipeline.untilStatus(id, 'sent');
  for (const id of unanswered) {
    await until('unanswered', async () => {
      const [row] = await pipeline.sql`select submission from messages where id = ${id}`;
      return row!['submission'] === 'unanswered';
    });
  }
  const before = await submits(all);
  for (const id of all) await pipeline.client.workflow.getHandle(id).terminate('all of them');
  await until('they are listed', async () => {
    const { count } = await pipeline.client.workflow.count("ExecutionStatus = 'Terminated'");
    return count === all.length;
  });

  expect(await reconcile()).toEqual({ repaired: CAP, reported: 1 });
  expect(await cappedFinding()).toMatchObject({
    state: 'open',
    subject: 'workflows',
    accountId: null,
    details: { restarted: CAP, open_messages: all.length },
  });
  // What is known is not reported again.
  expect(await reconcile()).toEqual({ repaired: CAP, reported: 0 });
  expect(await reconcile()).toEqual({ repaired: all.length - 2 * CAP, reported: 0 });
  expect(await cappedFinding()).toMatchObject({ state: 'gone' });
  expect(await reconcile()).toEqual({ repaired: 0, reported: 0 });

  for (const id of sent) await reportDelivered(pipeline.sql, id);
  for (const id of sent) await pipeline.untilStatus(id, 'delivered');
  expect(await submits(all)).toEqual(before);
  expect(before.slice(0, sent.length)).toEqual(sent.map(() => 1));
  expect(await charges(all)).toEqual(all.map(() => -15));
});

test('events that nobody was told of count as well: those beyond what a run may do are left to the next one', async () => {
  let taking = false;
  const receiver = await startReceiver(() => (taking ? 200 : 503));
  try {
    const ids = await Promise.all(
      Array.from({ length: CAP + 1 }, () => accepted({ ending: '902' }, { webhookUrl: receiver.url })),
    );
    await receiver.until((calls) => new Set(calls.map(({ event }) => event.id)).size === ids.length);
    await Promise.all(ids.map((id) => removeWorkflow(pipeline, id)));
    await ageEvents(pipeline.sql);
    taking = true;
    expect(await reconcile()).toEqual({ repaired: CAP, reported: 1 });
    const left = async () => (await pipeline.sql`select from webhook_events where state = 'pending'`).length;
    await until('those are told', async () => (await left()) === 1);
    expect(await reconcile()).toEqual({ repaired: 1, reported: 0 });
    await until('all are told', async () => (await left()) === 0);
  } finally {
    await receiver.close();
  }
});
