import {
  type Client,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/client';
import { afterEach, afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { newId } from '../../db/ids.ts';
import { settleReservation, LEASE_MS } from '../../db/money/reservations.ts';
import { startAccepted } from '../../pipeline/startAccepted.ts';
import { cancelUpdate } from '../../workflows/contracts.ts';
import { messageStart } from '../../workflows/startOptions.ts';
import { ownDatabase } from '../admin/support.ts';
import { until } from '../support/eventually.ts';
import { letBeTaken, reserve, reservedOf } from '../support/reservations.ts';
import { mailAccount, untilEmailIs, writtenEmail } from './emails.ts';
import { endedBefore } from './endedEarly.ts';
import { HOUR, pauseSchedule, type Pipeline, startPipeline } from './pipeline.ts';
import { findingsOf, reconcileOnce, terminateForGood } from './reconciling.ts';
import { updateWithStart } from './updateWithStart.ts';

const database = ownDatabase();
const sql = () => database.sql();

/** Reserves messages of an account, which are not there themselves; the oldest first. */
async function reservations(accountId: string, count: number, priority = false): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('msg'));
  for (const id of ids) await reserve(sql(), { id, accountId, priority });
  return ids;
}

afterEach(() => sql()`delete from reservations`);

/** As far as starts need it. A workflow that was started is running until it is charged. */
class FakeTemporal {
  away = false;
  readonly started: string[] = [];
  /** How often it was asked to start something. */
  asked = 0;
  readonly client = {
    withDeadline: (_deadline: number, work: () => Promise<unknown>) => work(),
    workflow: {
      start: (type: string, { workflowId }: { workflowId: string }) => {
        this.asked += 1;
        if (this.away) return Promise.reject(new Error('away'));
        if (this.started.includes(workflowId))
          return Promise.reject(new WorkflowExecutionAlreadyStartedError('started', workflowId, type));
        this.started.push(workflowId);
        return Promise.resolve({});
      },
      getHandle: () => ({ describe: () => Promise.resolve({ status: { name: 'RUNNING' } }) }),
    },
  } as unknown as Client;

  /** What it knew is gone, as where it was restored from a backup. */
  restore(): void {
    this.started.length = 0;
  }
}

describe('starting', () => {
  let temporal: FakeTemporal;
  let errors: unknown[];
  let starting: { stop(): Promise<void> };
  let accountId: string;
  beforeEach(async () => {
    [temporal, errors, accountId] = [new FakeTemporal(), [], await database.account()];
  });
  afterEach(async () => {
    await starting.stop();
    vi.useRealTimers();
  });

  const start = () =>
    void (starting = startAccepted({ sql: sql(), client: temporal.client }, (error) => errors.push(error)));

  async function accepted(count: number, priority = false): Promise<string[]> {
    const ids = await reservations(accountId, count, priority);
    await sql()`
      insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze, give_up_at, route)
      select id, ${accountId}, ${newId('req')}, 'queued', 'queued', '+48500100200', '', 1, 15, now() + interval '1 day', 'simulator'
        from unnest(${ids}::text[]) id`;
    return ids;
  }
  const untilStarted = (ids: readonly string[]) =>
    until(`${ids.length} are started`, () =>
      Promise.resolve(ids.every((id) => temporal.started.includes(id))),
    );

  test('goes no faster than the charges: a few are under way, and one more for each that is charged', async () => {
    const ids = await accepted(30);
    start();
    await untilStarted(ids.slice(0, 20));
    const urgent = await accepted(1, true);
    await settleReservation(sql(), ids[7]!);
    await untilStarted(urgent);
    expect(temporal.started.toSorted()).toEqual([...ids.slice(0, 20), ...urgent]);
    for (const id of [...ids.slice(0, 10), ...urgent]) await settleReservation(sql(), id);
    await untilStarted(ids);
    expect(errors).toEqual([]);
  });

  test('where Temporal is away nothing is lost: it is started when that is back', async () => {
    temporal.away = true;
    const ids = await accepted(3);
    start();
    await until('it has failed', () => Promise.resolve(errors.length > 0));
    expect(await reservedOf(sql(), accountId)).toEqual(ids);
    temporal.away = false;
    await letBeTaken(sql());
    await untilStarted(ids);
    expect(await reservedOf(sql(), accountId), 'their charge takes them away').toEqual(ids);
  });

  test('what Temporal has lost is started again, also where as many are under way as may be', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const ids = await accepted(25);
    start();
    await untilStarted(ids.slice(0, 20));
    temporal.restore();
    await letBeTaken(sql());
    vi.setSystemTime(Date.now() + LEASE_MS);
    await untilStarted(ids.slice(0, 20));
  });
});

describe('with a worker', () => {
  let pipeline: Pipeline;
  beforeAll(async () => {
    pipeline = await startPipeline('real');
    await pauseSchedule(pipeline.client);
  });
  afterAll(() => pipeline?.close());

  const untilSettled = (accountId: string) =>
    until('nothing is reserved', async () => (await reservedOf(pipeline.sql, accountId)).length === 0);

  test('what was accepted is started: messages, scheduled ones and e-mails, each charged once', async () => {
    const sender = await mailAccount(pipeline);
    const now = await pipeline.message(sender);
    const later = await pipeline.message(sender, { sendAt: Date.now() + HOUR });
    const email = await writtenEmail(pipeline, sender);
    for (const { id } of [now, later]) await reserve(pipeline.sql, { id, accountId: sender });
    await reserve(pipeline.sql, { id: email.id, accountId: sender, kind: 'email' });
    await pipeline.untilStatus(now.id, 'delivered');
    await untilEmailIs(pipeline, email.id, 'delivered');
    await untilSettled(sender);
    expect(await pipeline.stateOf(later.id)).toBe('RUNNING');
    expect(await pipeline.balance(sender)).toBe(1000 - 15 - 15 - 1);
    expect(await pipeline.submits(now.id)).toBe(1);
  });

  test('one that a cancel has started before is not started again', async () => {
    const owner = await pipeline.account();
    const message = await pipeline.message(owner, { sendAt: Date.now() + HOUR });
    await reserve(pipeline.sql, { ...message, waits: true });
    await updateWithStart(pipeline.client, cancelUpdate, {
      startWorkflowOperation: new WithStartWorkflowOperation('message', messageStart(message)),
      updateId: newId('req'),
    });
    expect(await reservedOf(pipeline.sql, owner)).toEqual([]);
    await pipeline.untilStatus(message.id, 'cancelled');
    // As a worker has it that took the reservation just before.
    await reserve(pipeline.sql, message);
    await untilSettled(owner);
    expect(await pipeline.stateOf(message.id)).toBe('COMPLETED');
    expect(await pipeline.balance(owner)).toBe(1000);
    expect(await pipeline.submits(message.id)).toBe(0);
  });

  test('one whose workflow has ended, as a restored database has it, is left to the reconciliation and not sent again', async () => {
    const { id, account: owner } = await endedBefore(pipeline, 'queued');
    await reserve(pipeline.sql, { id, accountId: owner });
    await untilSettled(owner);
    expect(await pipeline.stateOf(id)).toBe('COMPLETED');
    expect(await reconcileOnce(pipeline)).toEqual({ repaired: 0, reported: 1 });
    expect(await findingsOf(pipeline, id)).toEqual([{ kind: 'workflow_ended', state: 'open', repairs: 0 }]);
    expect(await pipeline.submits(id)).toBe(0);
  });

  test('one whose workflow was terminated before its charge is left to the reconciliation, which starts it', async () => {
    const owner = await pipeline.account();
    const message = await pipeline.message(owner);
    await pipeline.client.workflow.start('message', { ...messageStart(message), taskQueue: 'nobody' });
    await terminateForGood(pipeline, message.id);
    await reserve(pipeline.sql, message);
    await untilSettled(owner);
    expect(await pipeline.stateOf(message.id)).toBe('TERMINATED');
    await pipeline.sql`update messages set updated_at = now() - interval '6 minutes' where id = ${message.id}`;
    expect((await reconcileOnce(pipeline)).repaired).toBe(1);
    await pipeline.untilStatus(message.id, 'delivered');
    expect(await pipeline.balance(owner)).toBe(985);
  });
});
