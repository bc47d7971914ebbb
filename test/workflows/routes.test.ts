import { WorkflowUpdateFailedError } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { storeReports } from '../../db/incoming/deliveryReports.ts';
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

interface MessageNow {
  status: string;
  submission: string;
  route: string;
  errorCode: string | null;
}

async function now(id: string): Promise<MessageNow> {
  const [row] = await pipeline.sql<MessageNow[]>`
    select status, submission, route, error_code from messages where id = ${id}`;
  return row!;
}

async function accepted(options: MessageOptions = {}, account?: string) {
  const owner = account ?? (await pipeline.account());
  const message = await pipeline.message(owner, options);
  await pipeline.start(message);
  return { message, account: owner };
}

async function unanswered(options = {}, parts = 1): Promise<{ message: StartableMessage; account: string }> {
  const made = await accepted({ ending: '905', ...options });
  await untilUnanswered(made.message.id, 1, parts);
  return made;
}

async function untilUnanswered(id: string, times: number, parts = 1): Promise<void> {
  await until('unanswered', async () => {
    return (await pipeline.submits(id)) === times * parts && (await now(id)).submission === 'unanswered';
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
    expect((await now(message.id)).errorCode).toBe('given_up');
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
        alternativeId: 'late-1',
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

  test('a late answer that it was not taken has it submitted again', async () => {
    const { message } = await unanswered();
    const deliveryReports = deliveryReportsOf(pipeline);
    await deliveryReports.receiveLateAnswer(
      'simulator',
      `${message.id}/1`,
      { kind: 'throttled', retryAfterMs: 1000, code: 'ESME_RTHROTTLED' },
      performance.now(),
    );
    await untilUnanswered(message.id, 2);
    await deliveryReports.receiveLateAnswer(
      'simulator',
      'msg_nonsense/1',
      { kind: 'broken', code: 'x' },
      performance.now(),
    );
    await deliveryReports.receiveLateAnswer(
      'simulator',
      `${message.id}/7`,
      { kind: 'broken', code: 'x' },
      performance.now(),
    );
    expect((await now(message.id)).submission).toBe('unanswered');
  });

  test('is met by a report that names only its phone, once no answer can be under way', async () => {
    const { message } = await unanswered({ ending: '7905', text: 'ą'.repeat(150) }, 3);
    const [{ recipient } = { recipient: '' }] = await pipeline.sql<{ recipient: string }[]>`
      select recipient from messages where id = ${message.id}`;
    const report = { reference: null, phone: recipient, state: 'delivered', errorCode: null } as const;
    await storeReports(
      pipeline.sql,
      'simulator',
      ['u-1', 'u-2', 'u-3'].map((providerMessageId) => ({ ...report, providerMessageId })),
    );
    // Others to the same number, on the same route, whose answers are known.
    expect((await now(message.id)).status).toBe('queued');
    await pipeline.sql`
      update message_parts set submitted_at = submitted_at - interval '1 minute' where message_id = ${message.id}`;
    await pipeline.sql`
      update delivery_reports set received_at = received_at - interval '20 seconds' where phone = ${recipient}`;
    await until('delivered', async () => (await now(message.id)).status === 'delivered');
    const parts = await pipeline.sql<{ id: string }[]>`
      select provider_message_id as id from message_parts where message_id = ${message.id} order by part`;
    expect(parts.map(({ id }) => id)).toEqual(['u-1', 'u-2', 'u-3']);
  });
});

describe('reports', () => {
  test('for an id that the SMSC gave twice go to the phone they name', async () => {
    const first = (await accepted({ ending: '903' })).message.id;
    const other = (await accepted({ ending: '9903' })).message.id;
    await pipeline.untilStatus(first, 'sent');
    await pipeline.untilStatus(other, 'sent');
    await pipeline.sql`
      update message_parts set provider_message_id = 'twice' where message_id in ${pipeline.sql([first, other])}`;
    const report = {
      providerMessageId: 'twice',
      reference: null,
      state: 'delivered',
      errorCode: null,
    } as const;
    await storeReports(pipeline.sql, 'simulator', [{ ...report, phone: '+48500100903' }]);
    await pipeline.untilStatus(first, 'delivered');
    expect((await now(other)).status).toBe('sent');
    await storeReports(pipeline.sql, 'simulator', [report]);
    await pipeline.untilStatus(other, 'delivered');
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
    expect((await now(message.id)).route).toBe('reserve');
    expect(await pipeline.submits(message.id)).toBe(1);
    expect(await pipeline.balance(account)).toBe(985);
  });

  test('without another route it waits, is not failed, and goes on when the route works', async () => {
    const { message, account } = await accepted({ route: 'later' });
    await pipeline.untilStatus(message.id, 'queued');
    expect(await pipeline.submits(message.id)).toBe(0);
    await pipeline.sql`insert into routes (name, kind, state) values ('later', 'simulator', 'disabled')`;
    expect((await now(message.id)).status).toBe('queued');
    await pipeline.sql`update routes set state = 'active' where name = 'later'`;
    await pipeline.untilStatus(message.id, 'delivered');
    expect((await now(message.id)).route).toBe('later');
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
    expect((await now(message.id)).route).toBe('reserve');
  });
});
