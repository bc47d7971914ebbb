import { WorkflowNotFoundError } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dismissFinding, listFindings } from '../../db/maintenance/findings.ts';
import { settleUnsent } from '../../db/messages/settled.ts';
import { ensureSchedules } from '../../worker/schedules.ts';
import { cancelUpdate } from '../../workflows/contracts.ts';
import { STORED } from '../support/channelContents.ts';
import { until } from '../support/eventually.ts';
import { letBeTaken, reserve, reservedOf } from '../support/reservations.ts';
import { acceptedLookup } from './lookups.ts';
import { reportDelivered } from './deliveryReports.ts';
import { endedAndForgotten, endedBefore } from './endedEarly.ts';
import { HOUR, pauseSchedule, type Pipeline, startPipeline } from './pipeline.ts';
import { findingsOf, reconcileOnce, repairsOf, terminateForGood } from './reconciling.ts';

let pipeline: Pipeline;

beforeAll(async () => {
  pipeline = await startPipeline('real');
  await pauseSchedule(pipeline.client);
});
afterAll(() => pipeline?.close());

const handle = (id: string) => pipeline.client.workflow.getHandle(id);
const reconcile = () => reconcileOnce(pipeline);
const findings = (subject: string) => findingsOf(pipeline, subject);
const repairs = (subject: string) => repairsOf(pipeline, subject);

const aged = (id: string) =>
  pipeline.sql`update messages set updated_at = now() - interval '6 minutes' where id = ${id}`;

async function terminate(id: string): Promise<void> {
  await terminateForGood(pipeline, id);
  await aged(id);
}

async function accepted(options: object, account: object = {}) {
  const owner = await pipeline.account(account);
  return { id: (await pipeline.send(owner, options)).id, account: owner };
}

const scheduled = async (options: object = {}) => accepted({ ...options, sendAt: Date.now() + HOUR });

describe('a message that waited for its suspended account', () => {
  test('is told again that this is active, where its workflow has lost that; not before, and no other', async () => {
    const account = await pipeline.account();
    const message = await pipeline.message(account);
    await pipeline.setStatus(account, 'suspended');
    await pipeline.start(message);
    const paused = () =>
      pipeline.sql`select resumed_at from paused_messages where message_id = ${message.id}`;
    await until('it is paused', async () => (await paused()).count === 1);
    await aged(message.id);
    await reconcile();
    expect(await findings(message.id)).toEqual([]);
    // As if Temporal was restored from before the signal: the database believes that it was told.
    await pipeline.sql`
      update paused_messages set resumed_at = now() - interval '59 minutes' where message_id = ${message.id}`;
    await pipeline.setStatus(account, 'active');
    await reconcile();
    const [told] = await paused();
    expect(told?.['resumedAt']).not.toBeNull();
    await pipeline.sql`
      update paused_messages set resumed_at = resumed_at - interval '2 minutes' where message_id = ${message.id}`;
    await reconcile();
    await pipeline.untilStatus(message.id, 'delivered');
    expect(await paused()).toHaveLength(0);
  });
});

const REPAIRED = [{ kind: 'workflow_lost', state: 'repaired', repairs: 1 }];

describe('where all is well', () => {
  test('nothing is repaired and nothing reported', async () => {
    const { id } = await scheduled();
    await aged(id);
    expect(await reconcile()).toEqual({ repaired: 0, reported: 0 });
    expect(await findings(id)).toEqual([]);
  });
});

describe('a message whose workflow was lost', () => {
  test.each(STORED)(
    'a scheduled $channel, terminated: it sleeps again, charged once, and can be cancelled',
    async (stored) => {
      const { id, account } = await scheduled(stored);
      await terminate(id);
      expect(await reconcile()).toEqual({ repaired: 1, reported: 0 });
      expect(await pipeline.stateOf(id)).toBe('RUNNING');
      expect(await pipeline.balance(account)).toBe(985);
      expect(await findings(id)).toEqual(REPAIRED);
      expect(await repairs(id)).toEqual(['workflow started again']);
      expect(await reconcile()).toEqual({ repaired: 0, reported: 0 });
      await handle(id).executeUpdate(cancelUpdate);
      expect(await pipeline.row(id)).toMatchObject({ status: 'cancelled' });
      expect(await pipeline.balance(account)).toBe(1000);
    },
  );

  test.each(STORED)(
    'a sent $channel, terminated: never submitted again, its delivery report completes it',
    async (stored) => {
      const { id, account } = await accepted({ ...stored, ending: '903' });
      await pipeline.untilStatus(id, 'sent');
      await terminate(id);
      expect((await reconcile()).repaired).toBe(1);
      await reportDelivered(pipeline.sql, id);
      await pipeline.untilStatus(id, 'delivered');
      expect(await pipeline.untilClosed(id)).toBe('COMPLETED');
      expect(await pipeline.submits(id)).toBe(1);
      expect(await pipeline.balance(account)).toBe(985);
    },
  );

  test('unanswered and terminated: it stays unanswered, and is not submitted again', async () => {
    const { id } = await accepted({ ending: '905' });
    await pipeline.untilUnanswered(id);
    await terminate(id);
    expect((await reconcile()).repaired).toBe(1);
    await until('it waits for a report again', async () => {
      const { events } = await handle(id).fetchHistory();
      return Boolean(events?.some((event) => event.timerStartedEventAttributes));
    });
    expect(await pipeline.row(id)).toMatchObject({ submission: 'unanswered' });
    expect(await pipeline.submits(id)).toBeLessThanOrEqual(1);
  });

  test('a submit that was under way when it was lost counts as unanswered', async () => {
    const { id, account } = await accepted({ route: 'nowhere' });
    await terminate(id);
    await pipeline.sql`update messages set route = 'simulator', submission = 'submitting' where id = ${id}`;
    await pipeline.sql`
      insert into message_parts (message_id, part, state, route) values (${id}, 1, 'submitting', 'simulator')`;
    expect((await reconcile()).repaired).toBe(1);
    await pipeline.untilUnanswered(id);
    expect(await pipeline.submits(id)).toBe(0);
    expect(await pipeline.balance(account)).toBe(985);
  });

  test('its time is over and nothing of it was submitted: expired and refunded once', async () => {
    const { id, account } = await accepted({ route: 'nowhere' });
    await terminate(id);
    await pipeline.sql`update messages set give_up_at = now() - interval '1 second' where id = ${id}`;
    expect((await reconcile()).repaired).toBe(1);
    await pipeline.untilStatus(id, 'expired');
    expect(await pipeline.balance(account)).toBe(1000);
    expect(await pipeline.untilClosed(id)).toBe('COMPLETED');
    expect(await reconcile()).toEqual({ repaired: 0, reported: 0 });
  });

  test('one that a worker is still to start is left to it, however long that takes', async () => {
    const account = await pipeline.account();
    const { id } = await pipeline.message(account, { sendAt: Date.now() + HOUR });
    await aged(id);
    await reserve(pipeline.sql, { id, accountId: account, waits: true });
    expect(await reconcile()).toEqual({ repaired: 0, reported: 0 });
    await expect(pipeline.stateOf(id)).rejects.toThrow(WorkflowNotFoundError);
    await letBeTaken(pipeline.sql, id);
    await until('it is charged', async () => (await reservedOf(pipeline.sql, account)).length === 0);
    expect(await pipeline.stateOf(id)).toBe('RUNNING');
    expect(await findings(id)).toEqual([]);
  });

  test('neither reserved nor started: it gets its workflow, and was charged when it was accepted', async () => {
    const account = await pipeline.account();
    const { id } = await pipeline.message(account, { sendAt: Date.now() + HOUR });
    expect(await reconcile(), 'may still be on its way').toEqual({ repaired: 0, reported: 0 });
    await aged(id);
    expect(await reconcile()).toEqual({ repaired: 1, reported: 0 });
    expect(await pipeline.stateOf(id)).toBe('RUNNING');
    expect(await findings(id)).toEqual(REPAIRED);
    expect(await pipeline.balance(account)).toBe(985);
  });

  test('lost for the fourth time it is started again, and a person is to look at it until it is well', async () => {
    const { id } = await scheduled();
    for (let times = 1; times <= 4; times += 1) {
      await terminate(id);
      expect(await reconcile()).toEqual({ repaired: 1, reported: 0 });
      const state = times === 4 ? 'open' : 'repaired';
      expect(await findings(id)).toEqual([{ kind: 'workflow_lost', state, repairs: times }]);
    }
    expect(await pipeline.stateOf(id)).toBe('RUNNING');
    expect(await reconcile()).toEqual({ repaired: 0, reported: 0 });
    expect(await findings(id)).toEqual([{ kind: 'workflow_lost', state: 'gone', repairs: 4 }]);
  });

  const ended = (state: string) => [{ kind: 'workflow_ended', state, repairs: 0 }];

  async function dismiss(account: string): Promise<void> {
    const [row] = await listFindings(pipeline.sql, { account, state: 'open' }, 1);
    await dismissFinding(pipeline.sql, row!.id);
  }

  test('completed although the message is queued: reported, never sent again', async () => {
    const { id } = await endedBefore(pipeline, 'queued');
    expect(await reconcile()).toEqual({ repaired: 0, reported: 1 });
    expect(await reconcile()).toEqual({ repaired: 0, reported: 0 });
    expect(await findings(id)).toEqual(ended('open'));
    expect(await pipeline.stateOf(id)).toBe('COMPLETED');
    await settleUnsent(pipeline.sql, id);
    expect(await reconcile()).toEqual({ repaired: 0, reported: 0 });
    expect(await findings(id)).toEqual(ended('gone'));
    expect(await pipeline.submits(id)).toBe(0);
  });

  test('found ended, and forgotten by Temporal since: still reported, never sent', async () => {
    const { id } = await endedAndForgotten(pipeline, 'queued');
    expect(await reconcile()).toEqual({ repaired: 0, reported: 0 });
    expect(await findings(id)).toEqual(ended('open'));
    await expect(pipeline.stateOf(id)).rejects.toThrow(WorkflowNotFoundError);
    expect(await pipeline.submits(id)).toBe(0);
    await settleUnsent(pipeline.sql, id);
    await reconcile();
    expect(await findings(id)).toEqual(ended('gone'));
  });

  test('found ended, forgotten, and dismissed without a decision: before staff again, never sent', async () => {
    const { id, account } = await endedAndForgotten(pipeline, 'scheduled', { sendAt: Date.now() - HOUR });
    await dismiss(account);
    expect(await reconcile()).toEqual({ repaired: 0, reported: 1 });
    expect(await findings(id)).toEqual(ended('open'));
    await expect(pipeline.stateOf(id)).rejects.toThrow(WorkflowNotFoundError);
    expect(await repairs(id)).toEqual([]);
    await settleUnsent(pipeline.sql, id);
    await reconcile();
    expect(await findings(id)).toEqual(ended('gone'));
  });

  test('completed although the message is sent: followed to its end, never sent again', async () => {
    const { id } = await accepted({});
    await pipeline.untilStatus(id, 'delivered');
    expect(await pipeline.untilClosed(id)).toBe('COMPLETED');
    await pipeline.sql`alter table messages disable trigger messages_transition`;
    await pipeline.sql`update messages set status = 'sent', updated_at = now() - interval '6 minutes' where id = ${id}`;
    await pipeline.sql`alter table messages enable trigger messages_transition`;
    expect(await reconcile()).toEqual({ repaired: 1, reported: 0 });
    expect(await findings(id)).toEqual(REPAIRED);
    expect(await pipeline.stateOf(id)).toBe('RUNNING');
    await reportDelivered(pipeline.sql, id);
    await pipeline.untilStatus(id, 'delivered');
    expect(await pipeline.untilClosed(id)).toBe('COMPLETED');
    expect(await pipeline.submits(id)).toBe(1);
  });
});

describe('what was left over', () => {
  test('a look-up that was charged and never ended is refunded', async () => {
    const account = await pipeline.account({ balance: 100 });
    const id = await acceptedLookup(pipeline, account);
    expect((await reconcile()).repaired).toBe(0);
    await pipeline.sql`update number_lookups set created_at = now() - interval '6 minutes' where id = ${id}`;
    expect((await reconcile()).repaired).toBe(1);
    expect((await reconcile()).repaired).toBe(0);
    const [lookup] = await pipeline.sql`select state, reason from number_lookups where id = ${id}`;
    expect(lookup).toEqual({ state: 'failed', reason: 'timed_out' });
    expect(await pipeline.balance(account)).toBe(100);
  });
});

describe('money', () => {
  test('a balance that differs from its ledger is reported until it does not', async () => {
    const account = await pipeline.account();
    expect(await reconcile()).toEqual({ repaired: 0, reported: 0 });
    const shift = async (by: number) => {
      await pipeline.sql`alter table accounts disable trigger accounts_balance_guard`;
      await pipeline.sql`update accounts set balance_grosze = balance_grosze + ${by} where id = ${account}`;
      await pipeline.sql`alter table accounts enable trigger accounts_balance_guard`;
    };
    await shift(7);
    for (const reported of [1, 0]) expect(await reconcile()).toEqual({ repaired: 0, reported });
    expect(await findings(account)).toEqual([{ kind: 'ledger_differs', state: 'open', repairs: 0 }]);
    await shift(-7);
    expect(await reconcile()).toEqual({ repaired: 0, reported: 0 });
    expect(await findings(account)).toEqual([{ kind: 'ledger_differs', state: 'gone', repairs: 0 }]);
  });
});

describe('schedules', () => {
  test('exist once the worker runs, keep an operator’s pause, and run their workflows', async () => {
    const schedule = pipeline.client.schedule.getHandle('reconciliation');
    await schedule.pause('by the operator');
    await ensureSchedules(pipeline.client);
    const { state, action } = await schedule.describe();
    expect(state).toMatchObject({ paused: true, note: 'by the operator' });
    expect(action).toMatchObject({
      workflowType: 'reconciliation',
      staticSummary: 'Ledger, messages and workflows against one another',
    });
    await schedule.unpause();
    await schedule.trigger();
    await until('a run ends', async () => {
      const query = `WorkflowType = 'reconciliation' AND WorkflowId STARTS_WITH 'reconciliation-' AND ExecutionStatus = 'Completed'`;
      return (await pipeline.client.workflow.count(query)).count > 0;
    });
  });
});
