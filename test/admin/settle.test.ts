import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { byColumnName } from '../../db/connection.ts';
import { storeReports } from '../../db/incoming/deliveryReports.ts';
import { newId } from '../../db/ids.ts';
import { dismissFinding, listFindings } from '../../db/maintenance/findings.ts';
import type { OperationContext } from '../../operations/context.ts';
import { cancel } from '../../operations/cancel.ts';
import { lockRow } from '../crash/holds.ts';
import { StartProblem } from '../../bin/problem.ts';
import { endedAndForgotten, endedBefore } from '../workflows/endedEarly.ts';
import { type HoldingReceiver, startHoldingReceiver } from '../workflows/holdingReceiver.ts';
import { HOUR, pauseSchedule, type Pipeline, startPipeline } from '../workflows/pipeline.ts';
import { findingsOf, reconcileOnce } from '../workflows/reconciling.ts';
import { type Answer, pipelineLine } from './support.ts';
import { until } from '../support/eventually.ts';

let pipeline: Pipeline;
let receiver: HoldingReceiver;
beforeAll(async () => {
  receiver = await startHoldingReceiver();
  receiver.taking = true;
  pipeline = await startPipeline('real');
  await pauseSchedule(pipeline.client);
});
afterAll(async () => {
  await receiver?.close();
  await pipeline?.close();
});

const { ok, no } = pipelineLine(() => pipeline);
const cutOff = pipelineLine(
  () => pipeline,
  () => Promise.reject(new StartProblem('Temporal does not answer.')),
);

const LATER = { sendAt: Date.now() + HOUR };

/** Found by the reconciliation: its workflow has completed, its message is open. */
async function found(
  status: 'scheduled' | 'queued',
  options: Parameters<typeof endedBefore>[2] = {},
): Promise<{ id: string; account: string }> {
  const due = status === 'scheduled' ? LATER : {};
  const ended = await endedBefore(pipeline, status, { ...due, webhookUrl: receiver.url, ...options });
  await reconcileOnce(pipeline);
  expect(await stateOfFinding(ended.id)).toBe('open');
  return ended;
}

async function stateOfFinding(id: string): Promise<string | undefined> {
  return (await findingsOf(pipeline, id)).find(({ kind }) => kind === 'workflow_ended')?.state;
}

async function stored(id: string): Promise<Answer> {
  const [row] = await pipeline.sql<Answer[]>`
    select m.status, m.submission, m.error_code,
           (select count(*)::int from ledger_entries l where l.subject_id = m.id and l.kind = 'refund') as refunds,
           array(select p.state from message_parts p where p.message_id = m.id order by p.part) as parts
      from messages m where m.id = ${id}`;
  return byColumnName(row!);
}

async function audited(id: string): Promise<Answer[]> {
  const rows = await pipeline.sql<Answer[]>`
    select actor, action, account_id, details from audit_log
     where subject = ${id} and actor <> 'reconciliation' order by id`;
  return rows.map(byColumnName);
}

/** The webhook events of a message, once all are delivered. */
async function delivered(id: string): Promise<string[]> {
  const events = () => pipeline.sql<{ type: string; state: string }[]>`
    select type, state from webhook_events where subject_id = ${id} order by created_at, id`;
  await until('all events are delivered', async () =>
    (await events()).every(({ state }) => state === 'delivered'),
  );
  return (await events()).map(({ type }) => type);
}

const aged = (id: string) =>
  pipeline.sql`update messages set updated_at = now() - interval '6 minutes' where id = ${id}`;

describe('messages settle --as unsent', () => {
  test.each([
    { was: 'queued', status: 'failed', error: 'given_up', events: ['message.failed'] },
    { was: 'scheduled', status: 'cancelled', error: null, events: [] },
  ] as const)('a $was message ends as $status, refunded once, and is recorded', async (row) => {
    const { id, account } = await found(row.was);
    expect(await pipeline.balance(account)).toBe(985);
    expect(await ok('messages', 'settle', id, '--as', 'unsent')).toEqual({ id, status: row.status });
    expect(await stored(id)).toMatchObject({ status: row.status, error_code: row.error, refunds: 1 });
    expect(await pipeline.balance(account)).toBe(1000);
    expect(await audited(id)).toEqual([
      {
        ...{ actor: 'tester', action: 'messages settle', account_id: account },
        details: { as: 'unsent', was: row.was, submission: 'waiting' },
      },
    ]);
    expect(await stateOfFinding(id)).toBe('gone');
    expect(await delivered(id)).toEqual(row.events);
    expect(await reconcileOnce(pipeline)).toEqual({ repaired: 0, reported: 0 });
    expect(await pipeline.submits(id)).toBe(0);

    const again = await no('messages', 'settle', id, '--as', 'unsent');
    expect(again).toEqual({
      code: 'refused',
      message: `The message ${id} is ${row.status}: only one that is scheduled or queued can be settled.`,
    });
    expect(await pipeline.balance(account)).toBe(1000);
    expect(await audited(id)).toHaveLength(1);
  });

  test('once Temporal has forgotten its workflow, and after the finding was dismissed', async () => {
    const { id, account } = await endedAndForgotten(pipeline, 'queued', { webhookUrl: receiver.url });
    const [row] = await listFindings(pipeline.sql, { account, state: 'open' }, 1);
    await dismissFinding(pipeline.sql, row!.id);
    expect(await ok('messages', 'settle', id, '--as', 'unsent')).toEqual({ id, status: 'failed' });
    expect(await delivered(id)).toEqual(['message.failed']);
    expect(await pipeline.submits(id)).toBe(0);
    expect(await pipeline.balance(account)).toBe(1000);
    expect(await stateOfFinding(id)).toBe('gone');
  });

  test('asked by two at once: done once, and refunded once', async () => {
    const { id, account } = await found('queued');
    const lock = await lockRow(pipeline.sql, 'message', id);
    const asked = (['unsent', 'sent'] as const).map((as) =>
      ok('messages', 'settle', id, '--as', as).then(
        ({ status }) => status,
        () => 'refused',
      ),
    );
    await lock.untilWaitedFor();
    await lock.release();
    const answers = await Promise.all(asked);
    expect(answers.filter((answer) => answer === 'refused')).toHaveLength(1);
    const [done] = answers.filter((answer) => answer !== 'refused');
    expect(await stored(id)).toMatchObject({ status: done, refunds: done === 'failed' ? 1 : 0 });
    expect(await pipeline.balance(account)).toBe(done === 'failed' ? 1000 : 985);
    expect(await audited(id)).toHaveLength(1);
  });
});

describe('messages settle --as sent', () => {
  test.each(['queued', 'scheduled'] as const)(
    'a %s message is sent and stays paid; a report that comes ends it, without a submit',
    async (was) => {
      const due = was === 'scheduled' ? { sendAt: Date.now() - HOUR } : {};
      const { id, account } = await found(was, { text: 'x'.repeat(200), ...due });
      expect(await ok('messages', 'settle', id, '--as', 'sent')).toEqual({ id, status: 'sent' });
      expect(await stored(id)).toMatchObject({
        ...{ status: 'sent', submission: 'answered', refunds: 0, parts: ['unanswered', 'unanswered'] },
      });
      expect(await pipeline.balance(account)).toBe(985);
      expect(await audited(id)).toMatchObject([
        { action: 'messages settle', account_id: account, details: { as: 'sent', was } },
      ]);
      expect(await stateOfFinding(id)).toBe('gone');
      expect(await delivered(id)).toEqual(['message.sent']);
      await aged(id);
      expect((await reconcileOnce(pipeline)).repaired).toBe(1);
      expect(await pipeline.stateOf(id)).toBe('RUNNING');
      // The provider's id was never known here: our reference names the message.
      await storeReports(pipeline.sql, 'simulator', [
        { providerMessageId: newId('msg'), reference: `${id}/0`, state: 'delivered', errorCode: null },
      ]);
      await pipeline.untilStatus(id, 'delivered');
      expect(await pipeline.untilClosed(id)).toBe('COMPLETED');
      expect(await delivered(id)).toEqual(['message.sent', 'message.delivered']);
      expect(await reconcileOnce(pipeline)).toEqual({ repaired: 0, reported: 0 });
      expect(await pipeline.submits(id)).toBe(0);
      expect(await pipeline.balance(account)).toBe(985);
    },
  );

  test('without a report until its time is over it ends as expired, and stays paid', async () => {
    const { id, account } = await found('queued', { giveUpAt: Date.now() - 1 });
    await ok('messages', 'settle', id, '--as', 'sent');
    await aged(id);
    await reconcileOnce(pipeline);
    await pipeline.untilStatus(id, 'expired');
    expect(await delivered(id)).toEqual(['message.sent', 'message.expired']);
    expect(await pipeline.balance(account)).toBe(985);
    expect(await pipeline.submits(id)).toBe(0);
  });

  test('what an SMSC has of it already stays as it is known', async () => {
    const { id } = await found('queued', { text: 'x'.repeat(400) });
    await pipeline.sql`
      insert into message_parts (message_id, part, state, route, provider_message_id)
      values (${id}, 1, 'accepted', 'simulator', ${newId('msg')}), (${id}, 2, 'submitting', 'simulator', null)`;
    await ok('messages', 'settle', id, '--as', 'sent');
    expect(await stored(id)).toMatchObject({ parts: ['accepted', 'unanswered', 'unanswered'] });
  });
});

describe('messages settle refuses, and nothing is recorded,', () => {
  async function refused(id: string): Promise<string> {
    const before = await stored(id);
    const { code, message } = await no('messages', 'settle', id, '--as', 'unsent');
    expect(code).toBe('refused');
    expect(await audited(id)).toEqual([]);
    expect(await stored(id)).toEqual(before);
    return message;
  }

  test('a message whose workflow runs', async () => {
    const account = await pipeline.account();
    const message = await pipeline.send(account, LATER);
    expect(await refused(message.id)).toContain('has a running workflow');
  });

  test('that one went out whose send time has not come', async () => {
    const { id } = await found('scheduled');
    const { message } = await no('messages', 'settle', id, '--as', 'sent');
    expect(message).toContain('has not come');
    expect(await stored(id)).toMatchObject({ status: 'scheduled', parts: [] });
    expect(await audited(id)).toEqual([]);
  });

  test('a message that the reconciliation has not found ended', async () => {
    const { id } = await endedBefore(pipeline, 'queued');
    expect(await refused(id)).toContain('workflow_ended');
  });

  test('while Temporal does not answer', async () => {
    const { id } = await found('queued');
    const { code } = await cutOff.no('messages', 'settle', id, '--as', 'unsent');
    expect(code).toBe('unavailable');
    expect(await stored(id)).toMatchObject({ status: 'queued', refunds: 0 });
  });
});

test('a customer’s cancel of one that Temporal has forgotten is refused, and starts nothing', async () => {
  const { id, account } = await endedAndForgotten(pipeline, 'scheduled', LATER);
  const { sql, client: temporal } = pipeline;
  const asked = {
    services: { sql, temporal, log: pino({ level: 'silent' }) },
    ...{ caller: { accountId: account }, input: { id }, requestId: newId('req'), receivedAt: Date.now() },
  } as unknown as OperationContext<{ id: string }>;
  await expect(cancel(asked)).rejects.toMatchObject({ refusal: { reason: 'not_cancellable' } });
  expect(await stored(id)).toMatchObject({ status: 'scheduled' });
  expect((await pipeline.client.workflow.count(`WorkflowId = '${id}'`)).count).toBe(0);
});
