import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { Connection } from '@temporalio/client';
import { prepareNamespace } from '../../tools/cluster/namespace.ts';
import { apiClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { books, database, newAccount, type TestAccount } from '../support/factories.ts';
import { postTool } from '../support/rawTool.ts';
import { reservedOf } from '../support/reservations.ts';
import { type ServiceProcess, spawnProcess } from '../support/service.ts';
import { refusal } from './refusal.ts';

// A namespace of its own: the workers of the shared service do not look there.
const NAMESPACE = `lookups-${process.pid}`;
const SETTINGS = { TEMPORAL_NAMESPACE: NAMESPACE };
const UNANSWERED = '/v1/numbers/500100916/lookup';
const SLOW = '/v1/numbers/500100917/lookup';
const PLAIN = '/v1/numbers/500100200/lookup';

interface StoredLookup {
  id: string;
  state: string;
  reason: string | null;
}

let temporal: Connection;
let api: ServiceProcess;
const through = ({ key }: TestAccount) => apiClient(api.url, key);

beforeAll(async () => {
  const { temporalAddress } = inject('service');
  temporal = await Connection.connect({ address: temporalAddress });
  await prepareNamespace([temporalAddress], NAMESPACE);
  api = await spawnProcess('api', inject('service'), SETTINGS);
});
afterAll(async () => {
  await api?.stop();
  await temporal?.close();
});

async function lookupsOf({ id }: TestAccount): Promise<StoredLookup[]> {
  return await database()<StoredLookup[]>`
    select id, state, reason from number_lookups where account_id = ${id} order by created_at, id`;
}

/** Waits until the workflow of the account's look-up has begun. */
const untilTakenUp = (account: TestAccount) =>
  eventually(
    async () => [(await lookupsOf(account)).length, (await reservedOf(database(), account.id)).length],
    ([lookups, reserved]) => lookups === 1 && reserved === 0,
  );

/** Has the account's key look a number up through a tool, of which its budget covers one a day. */
async function askByTool({ keyId, key }: TestAccount, url: string): Promise<string> {
  await database()`update api_keys set tool_budget_grosze = 5 where id = ${keyId}`;
  const call = { name: 'check_number', args: { msisdn: '500100200' } };
  return await postTool(url, key, 'modern', call).then(
    (answer) => answer.text(),
    () => 'cut off',
  );
}

async function expectRefunded(account: TestAccount, reason: string): Promise<void> {
  expect(await books(account.id)).toMatchObject({ balance: 100, ledger: 100 });
  expect(await lookupsOf(account)).toMatchObject([{ state: 'failed', reason }]);
  expect(await reservedOf(database(), account.id)).toEqual([]);
  const [day] = await database()`select grosze from tool_spending where key_id = ${account.keyId}`;
  expect(day?.['grosze'] ?? 0).toBe(0);
}

async function workflowOf(id: string): Promise<string> {
  const { workflowExecutionInfo } = await temporal.workflowService.describeWorkflowExecution({
    namespace: NAMESPACE,
    execution: { workflowId: id },
  });
  return workflowExecutionInfo?.closeTime ? 'closed' : 'running';
}

/** Whether a worker has taken up the question to the provider. */
async function isAsking(id: string): Promise<boolean> {
  const { pendingActivities } = await temporal.workflowService.describeWorkflowExecution({
    namespace: NAMESPACE,
    execution: { workflowId: id },
  });
  return pendingActivities?.some(({ lastStartedTime }) => lastStartedTime) === true;
}

async function withWorker<T>(work: (worker: ServiceProcess) => Promise<T>): Promise<T> {
  const worker = await spawnProcess('worker', inject('service'), SETTINGS);
  try {
    return await work(worker);
  } finally {
    await worker.stop();
  }
}

describe('a look-up while workers are away', () => {
  it('gives 504 and is refunded once, to the tool budget too; the provider is not asked later', async () => {
    const account = await newAccount({ balance: 100 });
    const tool = await newAccount({ balance: 100 });
    const told = askByTool(tool, api.url);
    const answers = await Promise.all([through(account).get(PLAIN), through(account).get(PLAIN)]);
    for (const answer of answers) {
      expect(answer).toMatchObject(refusal(504));
      expect(answer.body.error.message).toContain('nie została pobrana');
    }
    const left = await lookupsOf(account);
    expect(await told).toContain('nie została pobrana');
    for (const one of [account, tool]) await expectRefunded(one, 'abandoned');
    await withWorker(async () => {
      await eventually(
        () => workflowOf(left[0]!.id),
        (state) => state === 'closed',
      );
      expect(await books(account.id)).toMatchObject({ balance: 100, ledger: 100 });
      expect((await through(account).get(PLAIN)).body).toMatchObject({ cached: false, cost_grosze: 5 });
    });
    expect(await books(account.id)).toMatchObject({ balance: 95, ledger: 95 });
  });

  it('a worker killed while the provider is asked: refunded by the next one', async () => {
    const account = await newAccount({ balance: 100 });
    const doomed = await spawnProcess('worker', inject('service'), SETTINGS);
    const asking = through(account).get(UNANSWERED);
    await untilTakenUp(account);
    const [asked] = await lookupsOf(account);
    await eventually(
      () => isAsking(asked!.id),
      (now) => now,
    );
    const ended = once(doomed.child, 'exit');
    doomed.child.kill('SIGKILL');
    await ended;
    expect(await lookupsOf(account)).toMatchObject([{ state: 'charged' }]);
    expect(await asking).toMatchObject(refusal(504));
    await withWorker(() =>
      eventually(
        () => lookupsOf(account),
        ([row]) => row?.state === 'failed',
      ),
    );
    expect(await books(account.id)).toMatchObject({ balance: 100, ledger: 100 });
    const entries = await database()`
      select kind from ledger_entries where account_id = ${account.id} and subject_kind = 'lookup' order by id`;
    expect(entries.map(({ kind }) => kind as string)).toEqual(['charge', 'refund']);
  });
});

it('an API killed before its workflow runs: refunded once by a worker, to the tool budget too', async () => {
  const account = await newAccount({ balance: 100 });
  const doomed = await spawnProcess('api', inject('service'), SETTINGS);
  const asking = askByTool(account, doomed.url);
  await eventually(
    () => lookupsOf(account),
    ([row]) => row?.state === 'charged',
  );
  expect(await books(account.id)).toMatchObject({ balance: 95, ledger: 95 });
  doomed.child.kill('SIGKILL');
  expect(await asking).toBe('cut off');
  await eventually(
    () => lookupsOf(account),
    ([row]) => row?.state === 'failed',
  );
  await expectRefunded(account, 'timed_out');
  expect((await account.api.get(PLAIN)).body).toMatchObject({ cached: false, cost_grosze: 5 });
});

it('an API killed after the charge: the workflow ends by itself, its result is there at no further cost', async () => {
  const account = await newAccount({ balance: 100 });
  const doomed = await spawnProcess('api', inject('service'));
  const asking = fetch(doomed.url + SLOW, { headers: { authorization: `Bearer ${account.key}` } }).catch(
    () => null,
  );
  await untilTakenUp(account);
  doomed.child.kill('SIGKILL');
  expect(await asking).toBeNull();
  await eventually(
    () => lookupsOf(account),
    ([row]) => row?.state === 'done',
  );
  expect((await account.api.get(SLOW)).body).toMatchObject({ cached: true, cost_grosze: 0 });
  const entries = await database()`
    select kind from ledger_entries where account_id = ${account.id} and subject_kind = 'lookup'`;
  expect(entries.map(({ kind }) => kind as string)).toEqual(['charge']);
});
