import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../db/ids.ts';
import { storeReports } from '../../db/incoming/deliveryReports.ts';
import { cancelSignal, cancelUpdate, FAILURE } from '../../workflows/contracts.ts';
import type { StartableMessage } from '../../domain/statuses.ts';
import { messageStart } from '../../workflows/startOptions.ts';
import { providerId, reportDelivered } from './deliveryReports.ts';
import { DAY, HOUR, type Pipeline, startPipeline } from './pipeline.ts';
import { until } from '../support/eventually.ts';

let pipeline: Pipeline;
beforeAll(async () => (pipeline = await startPipeline()));
afterAll(() => pipeline?.close());

async function scheduled(inMs: number): Promise<{ message: StartableMessage; account: string }> {
  const account = await pipeline.account();
  const message = await pipeline.send(account, { sendAt: (await pipeline.now()) + inMs });
  return { message, account };
}

async function sent(ending: string, options = {}): Promise<{ message: StartableMessage; account: string }> {
  const account = await pipeline.account();
  return { message: await pipeline.send(account, { ending, ...options }), account };
}

const cancel = (id: string) => pipeline.client.workflow.getHandle(id).executeUpdate(cancelUpdate);

async function failureType(promise: Promise<unknown>): Promise<string | null | undefined> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(WorkflowUpdateFailedError);
  const cause = (error as WorkflowUpdateFailedError).cause;
  expect(cause).toBeInstanceOf(ApplicationFailure);
  return (cause as ApplicationFailure).type;
}

describe('waiting for the send time', () => {
  test('a message 90 days ahead sleeps until then, and is delivered', async () => {
    const { message, account } = await scheduled(90 * DAY);
    await pipeline.sleep(90 * DAY - HOUR);
    expect((await pipeline.row(message.id)).status).toBe('scheduled');
    expect(await pipeline.submits(message.id)).toBe(0);
    await pipeline.sleep(HOUR + 1000);
    await pipeline.untilStatus(message.id, 'delivered');
    expect(await pipeline.submits(message.id)).toBe(1);
    expect(await pipeline.balance(account)).toBe(985);
  });

  test('cancelled some minutes before: refunded, the workflow ends', async () => {
    const { message, account } = await scheduled(HOUR);
    await pipeline.sleep(message.sendAt! - 300_000 - (await pipeline.now()));
    await cancel(message.id);
    expect((await pipeline.row(message.id)).status).toBe('cancelled');
    expect(await pipeline.untilClosed(message.id)).toBe('COMPLETED');
    expect(await pipeline.balance(account)).toBe(1000);
    await pipeline.sleep(HOUR);
    expect(await pipeline.submits(message.id)).toBe(0);
  });

  test('cancelled 29 s before: refused, not recorded as an update, and sent', async () => {
    const { message, account } = await scheduled(HOUR);
    await pipeline.sleep(message.sendAt! - 29_900 - (await pipeline.now()));
    expect(await failureType(cancel(message.id))).toBe(FAILURE.notCancellable);
    const { events } = await pipeline.client.workflow.getHandle(message.id).fetchHistory();
    expect(events!.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes)).toHaveLength(0);
    await pipeline.sleep(31_000);
    await pipeline.untilStatus(message.id, 'delivered');
    expect(await pipeline.balance(account)).toBe(985);
  });

  test('one that the database does not know, as after a restore, is not submitted and ends as failed', async () => {
    const sendAt = (await pipeline.now()) + HOUR;
    const known = await pipeline.message(await pipeline.account(), { sendAt });
    const id = newId('msg');
    const workflow = await pipeline.client.workflow.start('message', messageStart({ ...known, id }));
    await pipeline.sleep(HOUR + 1000);
    await expect(workflow.result()).rejects.toMatchObject({ cause: { type: FAILURE.unknownMessage } });
    expect(await pipeline.submits(id)).toBe(0);
  });

  test("the operator's signal cancels, also in the last 30 s", async () => {
    const { message, account } = await scheduled(HOUR);
    await pipeline.sleep(HOUR - 10_000);
    await pipeline.client.workflow.getHandle(message.id).signal(cancelSignal);
    await pipeline.untilStatus(message.id, 'cancelled');
    expect(await pipeline.balance(account)).toBe(1000);
  });

  test("Temporal's own cancel refunds and ends the workflow as cancelled", async () => {
    const { message, account } = await scheduled(HOUR);
    await pipeline.client.workflow.getHandle(message.id).cancel();
    await pipeline.untilStatus(message.id, 'cancelled');
    expect(await pipeline.untilClosed(message.id)).toBe('CANCELLED');
    expect(await pipeline.balance(account)).toBe(1000);
  });

  test("Temporal's own cancel of a message already sent changes nothing", async () => {
    const { message, account } = await sent('906');
    await pipeline.untilStatus(message.id, 'sent');
    await pipeline.client.workflow.getHandle(message.id).cancel();
    await reportDelivered(pipeline.sql, message.id);
    await pipeline.untilStatus(message.id, 'delivered');
    expect(await pipeline.untilClosed(message.id)).toBe('COMPLETED');
    expect(await pipeline.balance(account)).toBe(985);
  });

  test('cancels against dispatch: each message is either cancelled and refunded, or sent and paid', async () => {
    const account = await pipeline.account();
    const sendAt = (await pipeline.now()) + HOUR;
    const messages = await Promise.all(
      Array.from({ length: 30 }, () => pipeline.message(account, { sendAt })),
    );
    await Promise.all(messages.map((message) => pipeline.start(message)));
    // Around the send time, while the messages are being submitted; the first surely before, the last surely after.
    await pipeline.client.workflow.getHandle(messages[0]!.id).signal(cancelSignal);
    await pipeline.untilStatus(messages[0]!.id, 'cancelled');
    await pipeline.sleep(sendAt - 1_000 - (await pipeline.now()));
    const left = sendAt - (await pipeline.now());
    await Promise.all(
      messages.map(async ({ id }, index) => {
        await delay(Math.max(left - 300 + index * 50, 0));
        if (index === messages.length - 1) {
          await until('submission', async () => (await pipeline.row(id)).status !== 'scheduled');
        }
        const handle = pipeline.client.workflow.getHandle(id);
        await (index % 2 === 0 ? handle.signal(cancelSignal) : handle.cancel()).catch((error: unknown) => {
          // Too late even for the workflow: it is delivered and has ended.
          if (!(error instanceof WorkflowNotFoundError)) throw error;
        });
      }),
    );
    let cancelled = 0;
    for (const { id } of messages) {
      await pipeline.untilClosed(id);
      const { status } = await pipeline.row(id);
      expect(['cancelled', 'delivered']).toContain(status);
      expect(await pipeline.submits(id)).toBe(status === 'cancelled' ? 0 : 1);
      if (status === 'cancelled') cancelled++;
    }
    expect(cancelled).toBeGreaterThan(0);
    expect(cancelled).toBeLessThan(messages.length);
    expect(await pipeline.balance(account)).toBe(1000 - 15 * (messages.length - cancelled));
  });
});

describe('the endings of the simulated route', () => {
  test.each([
    ['000', 'delivered', 985],
    ['901', 'undelivered', 985],
    ['902', 'failed', 1000],
    ['904', 'delivered', 985],
    ['907', 'delivered', 985],
    ['908', 'delivered', 985],
  ])('%s ends as %s', async (ending, status, left) => {
    const { message, account } = await sent(ending);
    await pipeline.untilStatus(message.id, status);
    expect(await pipeline.untilClosed(message.id)).toBe('COMPLETED');
    expect(await pipeline.balance(account)).toBe(left);
    expect(await pipeline.submits(message.id)).toBe(status === 'failed' ? 0 : 1);
    const { deliveredAt, errorCode } = await pipeline.row(message.id);
    expect(deliveredAt === null).toBe(status !== 'delivered');
    expect(errorCode === 'network_refused').toBe(status === 'failed');
  });

  test('903 expires when its time is over, without a refund', async () => {
    const { message, account } = await sent('903');
    await pipeline.untilStatus(message.id, 'sent');
    await pipeline.sleep(71 * HOUR);
    expect((await pipeline.row(message.id)).status).toBe('sent');
    await pipeline.sleep(HOUR + 1000);
    await pipeline.untilStatus(message.id, 'expired');
    expect(await pipeline.untilClosed(message.id)).toBe('COMPLETED');
    expect(await pipeline.balance(account)).toBe(985);
  });

  test('over before Temporal was restored from a backup: its workflow ends although it hears nothing', async () => {
    const { message } = await sent('903');
    await pipeline.untilStatus(message.id, 'sent');
    await pipeline.sql`
      update messages set status = 'delivered', delivered_at = now(), updated_at = now() where id = ${message.id}`;
    await pipeline.sleep(72 * HOUR + 120_000);
    expect(await pipeline.untilClosed(message.id)).toBe('COMPLETED');
    expect(await pipeline.client.workflow.getHandle(message.id).result()).toEqual({ status: 'delivered' });
  });

  test('905 is not sent again, stays visible as unanswered, and a later report completes it', async () => {
    const { message, account } = await sent('905');
    await pipeline.untilUnanswered(message.id);
    expect((await pipeline.row(message.id)).status).toBe('queued');
    await pipeline.sleep(24 * HOUR);
    expect(await pipeline.submits(message.id)).toBe(1);
    const [{ providerMessageId: late } = { providerMessageId: '' }] = await pipeline.sql<
      { providerMessageId: string }[]
    >`
      select provider_message_id from simulator_submits where reference = ${message.id + '/1'}`;
    await storeReports(pipeline.sql, 'simulator', [
      { providerMessageId: late, reference: `${message.id}/1`, state: 'delivered', errorCode: null },
    ]);
    await pipeline.untilStatus(message.id, 'delivered');
    expect(await pipeline.untilClosed(message.id)).toBe('COMPLETED');
    expect((await pipeline.row(message.id)).submission).toBe('answered');
    expect(await pipeline.balance(account)).toBe(985);
  });

  test('a message of three parts is delivered when all its parts are', async () => {
    const { message } = await sent('000', { text: 'ą'.repeat(150), cost: 45 });
    await pipeline.untilStatus(message.id, 'delivered');
    expect(await pipeline.submits(message.id)).toBe(3);
    const contents = await pipeline.sql<{ content: string }[]>`
      select content from simulator_submits where reference like ${message.id + '/%'} order by part`;
    expect(contents.map(({ content }) => content).join('')).toBe('ą'.repeat(150));
  });

  test('an early end of delivery attempts is kept', async () => {
    const { message } = await sent('903', { giveUpAt: (await pipeline.now()) + 900_000 });
    await pipeline.untilStatus(message.id, 'sent');
    await pipeline.sleep(901_000);
    await pipeline.untilStatus(message.id, 'expired');
  });
});

describe('a message whose time is over before its submission', () => {
  test('expires without being sent, and is refunded', async () => {
    const account = await pipeline.account();
    const sendAt = (await pipeline.now()) + 500;
    const message = await pipeline.send(account, { sendAt, giveUpAt: sendAt + 1 });
    await pipeline.untilStatus(message.id, 'expired');
    expect(await pipeline.untilClosed(message.id)).toBe('COMPLETED');
    expect(await pipeline.submits(message.id)).toBe(0);
    expect(await pipeline.balance(account)).toBe(1000);
  });

  test('which no worker of its route takes, expires too', async () => {
    const account = await pipeline.account();
    const message = await pipeline.send(account, {
      route: 'nobody',
      giveUpAt: (await pipeline.now()) + 3_000,
    });
    await pipeline.untilStatus(message.id, 'expired');
    expect(await pipeline.untilClosed(message.id)).toBe('COMPLETED');
    expect(await pipeline.balance(account)).toBe(1000);
  });

  test('throttled to its end expires and is refunded; a submit left open is not', async () => {
    const account = await pipeline.account();
    const throttled = await pipeline.message(account, { ending: '904' });
    const unanswered = await pipeline.message(account, { ending: '905' });
    await pipeline.sql`update messages set give_up_at = clock_timestamp() + interval '1500 ms' where id = ${throttled.id}`;
    await Promise.all([pipeline.start(throttled), pipeline.start(unanswered)]);
    await pipeline.untilStatus(throttled.id, 'expired');
    expect(await pipeline.submits(throttled.id)).toBe(0);
    await pipeline.untilUnanswered(unanswered.id);
    await pipeline.sleep(73 * HOUR);
    await pipeline.untilStatus(unanswered.id, 'expired');
    expect(await pipeline.balance(account)).toBe(985);
  });
});

describe('reports at the wrong time', () => {
  test('a report after the end, a second one and an unknown one change nothing', async () => {
    const { message } = await sent('903');
    await pipeline.untilStatus(message.id, 'sent');
    await pipeline.sleep(73 * HOUR);
    await pipeline.untilStatus(message.id, 'expired');
    const providerMessageId = await providerId(pipeline.sql, message.id);
    const report = { providerMessageId, reference: null, state: 'delivered', errorCode: null } as const;
    const unknown = {
      ...report,
      providerMessageId: 'never-seen',
      reference: "msg_'; drop table messages; --/1",
    };
    await storeReports(pipeline.sql, 'simulator', [report, report, unknown]);
    await until('applied', async () => {
      const open = await pipeline.sql`
        select 1 from delivery_reports where provider_message_id = ${providerMessageId} and applied_at is null`;
      return open.length === 0;
    });
    expect((await pipeline.row(message.id)).status).toBe('expired');
    const kept =
      await pipeline.sql`select applied_at from delivery_reports where provider_message_id = 'never-seen'`;
    expect(kept).toHaveLength(1);
    expect(kept[0]!.appliedAt).toBeNull();
  });
});
