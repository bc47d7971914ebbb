import pino from 'pino';
import { randomBytes } from 'node:crypto';
import { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { prepareNamespace } from '../../tools/cluster/namespace.ts';
import { listFindings } from '../../db/maintenance/findings.ts';
import { startWorker } from '../../worker/worker.ts';
import { startReceiver } from '../support/webhookReceiver.ts';
import { ageEvents } from '../support/lateEvents.ts';
import { submitsOf } from './markers.ts';
import { reportDelivered } from './deliveryReports.ts';
import { HOUR, pauseReconciliation, type Pipeline, startPipeline, until } from './pipeline.ts';
import { reconcileOnce, removeWorkflow } from './reconciling.ts';

const CAP = 3;

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline('real', { RECONCILE_RESTARTS: CAP });
  await pauseReconciliation(pipeline.client);
}, 120_000);
afterAll(() => pipeline?.close(), 60_000);

const reconcile = (client = pipeline.client) => reconcileOnce({ client });

async function accepted(options: object, account: object = {}): Promise<string> {
  const message = await pipeline.draft(await pipeline.account(account), options);
  expect(await pipeline.accept(message)).toEqual({ accepted: true });
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

async function messagesAt(client: Client): Promise<string[]> {
  const ids: string[] = [];
  for await (const { workflowId } of client.workflow.list({ query: "WorkflowType = 'message'" })) {
    ids.push(workflowId);
  }
  return ids;
}

async function hasSubmitted(client: Client, id: string): Promise<boolean> {
  return submitsOf(await client.workflow.getHandle(id).fetchHistory()) > 0;
}

const aged = (ids: string[]) =>
  pipeline.sql`update messages set updated_at = now() - interval '6 minutes' where id = any(${ids})`;

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
}, 180_000);

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
}, 180_000);

test('a worker at an empty Temporal starts a few again, says so, and nothing is sent or charged twice', async () => {
  const { connection } = pipeline.client;
  await prepareNamespace([pipeline.address], 'empty');
  const wrong = await startWorker({
    databaseUrl: pipeline.databaseUrl,
    databasePool: 5,
    temporal: { address: pipeline.address, namespace: 'empty' },
    config: { WEBHOOK_ALLOW_PRIVATE: true, RECONCILE_RESTARTS: CAP },
    secretsKey: randomBytes(32),
    shortUrl: 'https://s.example',
    log: pino({ level: 'silent' }),
  });
  try {
    const client = new Client({ connection, namespace: 'empty' });
    await pauseReconciliation(client);
    const sendAt = Date.now() + 15_000;
    const ids = await Promise.all([1, 2, 3, 4, 5, 6].map(() => accepted({ sendAt })));
    await aged(ids);
    await pipeline.sql`delete from maintenance_positions`;
    await pipeline.sql`delete from findings`;
    const { repaired } = await reconcile(client);
    expect(repaired).toBe(CAP);
    const finding = await cappedFinding();
    expect(finding).toMatchObject({ state: 'open' });
    for (const id of ids) await pipeline.untilStatus(id, 'delivered');
    // Which of two workflows hears of a report is chance, so the other one may still wait: but both have had their turn.
    const there = await messagesAt(client);
    expect(there).toHaveLength(CAP);
    for (const id of there) {
      await until(`${id} has had its turn there too`, () => hasSubmitted(client, id));
    }
    expect(await submits(ids)).toEqual(ids.map(() => 1));
    expect(await charges(ids)).toEqual(ids.map(() => -15));
  } finally {
    await wrong.stop();
  }
}, 180_000);
