import { WorkflowUpdateFailedError } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StartableMessage } from '../../domain/statuses.ts';
import { FAILURE, giveUpUpdate, resubmitUpdate } from '../../workflows/contracts.ts';
import { decideOn } from './decisions.ts';
import { deliveryReportsOf } from './deliveryReports.ts';
import { submitsOf } from './markers.ts';
import { HOUR, type MessageOptions, type Pipeline, startPipeline } from './pipeline.ts';
import { until } from '../support/eventually.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline();
});
afterAll(() => pipeline.close());

async function accepted(options: MessageOptions = {}, account?: string) {
  const owner = account ?? (await pipeline.account());
  return { message: await pipeline.send(owner, options), account: owner };
}

async function unanswered(options = {}, parts = 1): Promise<{ message: StartableMessage; account: string }> {
  const made = await accepted({ ending: '905', ...options });
  await untilUnanswered(made.message.id, 1, parts);
  return made;
}

async function untilUnanswered(id: string, times: number, parts = 1): Promise<void> {
  await until('unanswered', async () => {
    return (
      (await pipeline.submits(id)) === times * parts && (await pipeline.row(id)).submission === 'unanswered'
    );
  });
  // The workflow knows it a moment after the database.
  await until('known to the workflow', async () => {
    const history = await pipeline.client.workflow.getHandle(id).fetchHistory();
    return submitsOf(history) === times && Boolean(history.events!.at(-1)?.timerStartedEventAttributes);
  });
}

const update = (id: string, definition: typeof resubmitUpdate) =>
  pipeline.client.workflow.getHandle(id).executeUpdate(definition);

async function failureOf(promise: Promise<unknown>): Promise<string | null | undefined> {
  const error: unknown = await promise.catch((failure: unknown) => failure);
  if (!(error instanceof WorkflowUpdateFailedError)) throw error;
  return (error.cause as { type?: string | null } | undefined)?.type;
}

describe('an unanswered submit', () => {
  test('is submitted again when the operator says so, and once more, and can be given up with refund', async () => {
    const { message, account } = await unanswered();
    await decideOn(pipeline, message.id, 'resubmit');
    await untilUnanswered(message.id, 2);
    expect(await pipeline.balance(account)).toBe(985);
    await decideOn(pipeline, message.id, 'giveUp');
    await pipeline.untilStatus(message.id, 'failed');
    expect((await pipeline.row(message.id)).errorCode).toBe('given_up');
    expect(await pipeline.client.workflow.getHandle(message.id).result()).toEqual({ status: 'failed' });
    expect(await pipeline.balance(account)).toBe(1000);
    expect(await pipeline.submits(message.id)).toBe(2);
  });

  test('that was answered is neither submitted again nor given up', async () => {
    const { message, account } = await accepted({ ending: '903' });
    await pipeline.untilStatus(message.id, 'sent');
    expect(await failureOf(update(message.id, resubmitUpdate))).toBe(FAILURE.notUnanswered);
    expect(await failureOf(update(message.id, giveUpUpdate))).toBe(FAILURE.notUnanswered);
    expect(await pipeline.submits(message.id)).toBe(1);
    expect(await pipeline.balance(account)).toBe(985);
  });

  test('a late answer that it was taken makes it sent, and its report delivered', async () => {
    const { message, account } = await unanswered();
    const deliveryReports = deliveryReportsOf(pipeline);
    await deliveryReports.receiveLateAnswer(
      'simulator',
      `${message.id}/1`,
      { kind: 'accepted', providerMessageId: 'late-1' },
      performance.now(),
    );
    await pipeline.untilStatus(message.id, 'sent');
    await deliveryReports.receive('simulator', [
      {
        providerMessageId: 'LATE',
        otherIds: ['late-1'],
        reference: null,
        state: 'delivered',
        errorCode: null,
      },
    ]);
    await pipeline.untilStatus(message.id, 'delivered');
    expect(await pipeline.client.workflow.getHandle(message.id).result()).toEqual({ status: 'delivered' });
    expect(await pipeline.submits(message.id)).toBe(1);
    expect(await pipeline.balance(account)).toBe(985);
  });
});

describe('routes', () => {
  async function reserveOf(account: string): Promise<void> {
    await pipeline.sql`
      insert into routes (name, kind) values ('gone', 'smpp'), ('reserve', 'simulator') on conflict do nothing`;
    await pipeline.sql`
      insert into route_rules (route, account_id) values ('gone', ${account}), ('reserve', ${account})`;
  }

  test('a message on a route that does not work moves to one that does, and is sent there once', async () => {
    const account = await pipeline.account();
    await reserveOf(account);
    const { message } = await accepted({ route: 'gone' }, account);
    await pipeline.untilStatus(message.id, 'delivered');
    expect((await pipeline.row(message.id)).route).toBe('reserve');
    expect(await pipeline.submits(message.id)).toBe(1);
    expect(await pipeline.balance(account)).toBe(985);
  });

  test('without another route it waits, is not failed, and goes on when the route works', async () => {
    const { message, account } = await accepted({ route: 'later' });
    await pipeline.untilStatus(message.id, 'queued');
    expect(await pipeline.submits(message.id)).toBe(0);
    await pipeline.sql`insert into routes (name, kind, state) values ('later', 'simulator', 'disabled')`;
    expect((await pipeline.row(message.id)).status).toBe('queued');
    await pipeline.sql`update routes set state = 'active' where name = 'later'`;
    await pipeline.untilStatus(message.id, 'delivered');
    expect((await pipeline.row(message.id)).route).toBe('later');
    expect(await pipeline.balance(account)).toBe(985);
  });

  test('a scheduled message takes the route that is best at its send time', async () => {
    const account = await pipeline.account();
    const { message } = await accepted({ sendAt: (await pipeline.now()) + HOUR }, account);
    await pipeline.untilStatus(message.id, 'scheduled');
    await reserveOf(account);
    // The rules are asked for again once they are a second old.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await pipeline.sleep(HOUR + 1_000);
    await pipeline.untilStatus(message.id, 'delivered');
    expect((await pipeline.row(message.id)).route).toBe('reserve');
  });
});
