import pino from 'pino';
import { randomBytes } from 'node:crypto';
import { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { prepareNamespace } from '../../tools/cluster/namespace.ts';
import { listFindings } from '../../db/maintenance/findings.ts';
import { startWorker } from '../../worker/worker.ts';
import { submitsOf } from './markers.ts';
import { pauseReconciliation, type Pipeline, startPipeline } from './pipeline.ts';
import { reconcileOnce } from './reconciling.ts';
import { until } from '../support/eventually.ts';

const CAP = 3;

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline('real', { RECONCILE_RESTARTS: CAP });
  await pauseReconciliation(pipeline.client);
});
afterAll(() => pipeline?.close());

const reconcile = (client = pipeline.client) => reconcileOnce({ client });

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
    const sendAt = Date.now() + 60_000;
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
});
