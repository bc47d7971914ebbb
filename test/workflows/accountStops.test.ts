import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHttpReceiver } from '../support/httpReceiver.ts';
import { reportDelivered } from './deliveryReports.ts';
import { startEmail, writtenEmail, mailAccount, storedEmail, triesOf, untilEmailIs } from './emails.ts';
import { holdSubmits } from './heldSubmits.ts';
import { DAY, HOUR, type Pipeline, startPipeline } from './pipeline.ts';
import { until } from '../support/eventually.ts';

let pipeline: Pipeline;
beforeAll(async () => (pipeline = await startPipeline()));
afterAll(() => pipeline?.close());

const scheduled = async (account: string, inMs = HOUR) =>
  pipeline.send(account, { sendAt: (await pipeline.now()) + inMs });

const statusOf = async (id: string) => (await pipeline.row(id)).status;

const untilPaused = (id: string) =>
  until(`${id} is paused`, async () => {
    const rows =
      await pipeline.sql`select from paused_messages where message_id = ${id} and resumed_at is null`;
    return rows.count === 1;
  });

const historyLength = async (id: string): Promise<number> =>
  (await pipeline.client.workflow.getHandle(id).fetchHistory()).events!.length;

const pausedLeft = async (account: string): Promise<number> =>
  (await pipeline.sql`select from paused_messages where account_id = ${account}`).count;

describe('a suspended account', () => {
  test('its scheduled message waits at its time, and goes once the account is active again', async () => {
    const account = await pipeline.account();
    const message = await scheduled(account);
    await pipeline.setStatus(account, 'suspended');
    await pipeline.sleep(HOUR + 1000);
    await untilPaused(message.id);
    const before = await historyLength(message.id);
    await pipeline.sleep(DAY);
    expect(await statusOf(message.id)).toBe('scheduled');
    expect(await pipeline.submits(message.id)).toBe(0);
    // Nothing is asked again and again meanwhile.
    expect(await historyLength(message.id)).toBe(before);
    await pipeline.setStatus(account, 'active');
    await pipeline.untilStatus(message.id, 'delivered');
    expect(await pipeline.untilClosed(message.id)).toBe('COMPLETED');
    expect(await pipeline.submits(message.id)).toBe(1);
    expect(await pipeline.balance(account)).toBe(985);
    expect(await pausedLeft(account)).toBe(0);
  });

  test('a throttled message is not tried again, nor one on its way to its submit submitted', async () => {
    const account = await pipeline.account();
    const letGo = await holdSubmits(pipeline.sql);
    const held = await pipeline.send(account);
    const throttled = await pipeline.send(account, { ending: '904' });
    await pipeline.setStatus(account, 'suspended');
    await letGo();
    for (const { id } of [held, throttled]) await untilPaused(id);
    expect(await pipeline.submits(held.id)).toBe(0);
    await pipeline.setStatus(account, 'active');
    for (const { id } of [held, throttled]) await pipeline.untilStatus(id, 'delivered');
    expect(await pipeline.balance(account)).toBe(970);
  });

  test('suspended for longer than the message may take: it expires, and is refunded', async () => {
    const account = await pipeline.account();
    const message = await scheduled(account);
    const queued = await pipeline.message(account);
    await pipeline.setStatus(account, 'suspended');
    await pipeline.start(queued);
    await untilPaused(queued.id);
    await pipeline.sleep(HOUR + 1000);
    await untilPaused(message.id);
    await pipeline.sleep(3 * DAY + HOUR);
    for (const { id } of [message, queued]) {
      await pipeline.untilStatus(id, 'expired');
      expect(await pipeline.untilClosed(id)).toBe('COMPLETED');
      expect(await pipeline.submits(id)).toBe(0);
    }
    expect(await pipeline.balance(account)).toBe(1000);
    expect(await pausedLeft(account)).toBe(0);
    await pipeline.setStatus(account, 'active');
    expect(await statusOf(message.id)).toBe('expired');
  });

  test('suspended again and again, a message is submitted once', async () => {
    const account = await pipeline.account();
    const message = await scheduled(account, 1000);
    for (let i = 0; i < 3; i += 1) {
      await pipeline.setStatus(account, 'suspended');
      if (i === 0) await pipeline.sleep(2000);
      await untilPaused(message.id);
      if (i < 2) {
        // Gone before the workflow has come to its submit, or after: either is right.
        await pipeline.setStatus(account, 'active');
        await pipeline.setStatus(account, 'suspended');
      }
    }
    await pipeline.setStatus(account, 'active');
    await pipeline.untilStatus(message.id, 'delivered');
    expect(await pipeline.submits(message.id)).toBe(1);
    expect(await pipeline.balance(account)).toBe(985);
  });

  test('what the network has goes on: its report is taken, its webhooks are called', async () => {
    const receiver = await startHttpReceiver((response) => response.writeHead(204).end());
    const account = await pipeline.account({ webhookUrl: receiver.url });
    const [one, two] = [
      await pipeline.send(account, { ending: '903' }),
      await pipeline.send(account, { ending: '903' }),
    ];
    for (const { id } of [one, two]) await pipeline.untilStatus(id, 'sent');
    for (const [{ id }, status] of [
      [one, 'suspended'],
      [two, 'closed'],
    ] as const) {
      await pipeline.setStatus(account, status);
      await reportDelivered(pipeline.sql, id);
      await pipeline.untilStatus(id, 'delivered');
      await pipeline.untilClosed(id);
      const events = await pipeline.sql`
        select type, state from webhook_events where subject_id = ${id} order by id`;
      expect(events).toEqual([
        { type: 'message.sent', state: 'delivered' },
        { type: 'message.delivered', state: 'delivered' },
      ]);
    }
    expect(await pausedLeft(account)).toBe(0);
    expect(await pipeline.balance(account)).toBe(970);
    await receiver.close();
  });
});

describe('a closed account', () => {
  test('scheduled messages are cancelled at once and refunded, and their workflows end', async () => {
    const account = await pipeline.account();
    const messages = await Promise.all([scheduled(account, HOUR), scheduled(account, 80 * DAY)]);
    await pipeline.setStatus(account, 'closed');
    for (const { id } of messages) {
      await pipeline.untilStatus(id, 'cancelled');
      expect(await pipeline.untilClosed(id)).toBe('COMPLETED');
    }
    expect(await pipeline.balance(account)).toBe(1000);
    expect(await pausedLeft(account)).toBe(0);
  });

  test('so are those that waited while it was suspended, queued ones too', async () => {
    const account = await pipeline.account();
    const message = await scheduled(account, 1000);
    const queued = await pipeline.message(account);
    await pipeline.setStatus(account, 'suspended');
    await pipeline.start(queued);
    await pipeline.sleep(2000);
    for (const { id } of [message, queued]) await untilPaused(id);
    await pipeline.setStatus(account, 'closed');
    for (const { id } of [message, queued]) {
      await pipeline.untilStatus(id, 'cancelled');
      expect(await pipeline.untilClosed(id)).toBe('COMPLETED');
      expect(await pipeline.submits(id)).toBe(0);
    }
    expect(await pipeline.balance(account)).toBe(1000);
  });

  test('a request charged just after the closing is cancelled by its own workflow', async () => {
    const account = await pipeline.account();
    await pipeline.setStatus(account, 'closed');
    await until('its closing is done', async () => {
      await pipeline.sql`update account_closings set closed_at = now() - interval '1 hour'`;
      return (await pipeline.sql`select from account_closings where account_id = ${account}`).count === 0;
    });
    const message = await pipeline.send(account);
    await pipeline.untilStatus(message.id, 'cancelled');
    expect(await pipeline.untilClosed(message.id)).toBe('COMPLETED');
    const later = await scheduled(account, 1000);
    await pipeline.sleep(2000);
    await pipeline.untilStatus(later.id, 'cancelled');
    expect(await pipeline.untilClosed(later.id)).toBe('COMPLETED');
    expect(await pipeline.balance(account)).toBe(1000);
  });

  test('closing against submits: each message is submitted or refunded, never both', async () => {
    const account = await pipeline.account();
    const messages = await Promise.all(
      Array.from({ length: 30 }, async () => pipeline.message(account, { ending: '200' })),
    );
    const accepting = messages.map(async (message, index) => {
      if (index === 15) await pipeline.setStatus(account, 'closed');
      // A busy server may lose the answer; what became of the message is looked at below.
      await pipeline.start(message).catch(() => undefined);
    });
    await Promise.all(accepting);
    const counts: Record<string, number> = { delivered: 0, cancelled: 0 };
    for (const { id } of messages) {
      await pipeline.untilClosed(id);
      const status = String(await statusOf(id));
      counts[status] = (counts[status] ?? 0) + 1;
      expect(await pipeline.submits(id), `${id} ${status}`).toBe(status === 'delivered' ? 1 : 0);
    }
    expect(counts['delivered']! + counts['cancelled']!).toBe(30);
    expect(counts['cancelled']).toBeGreaterThan(0);
    expect(await pipeline.balance(account)).toBe(1000 - 15 * counts['delivered']!);
  });
});

describe('an e-mail that waits to be handed over', () => {
  async function waiting(): Promise<{ account: string; id: string }> {
    const account = await mailAccount(pipeline);
    const email = await writtenEmail(pipeline, account);
    await pipeline.setStatus(account, 'suspended');
    await startEmail(pipeline, email);
    await pipeline.sleep(HOUR);
    expect(await storedEmail(pipeline, email.id)).toMatchObject({ status: 'queued', submission: 'waiting' });
    return { account, id: email.id };
  }

  test('goes within ten minutes once its account is active again', async () => {
    const { account, id } = await waiting();
    await pipeline.setStatus(account, 'active');
    await pipeline.sleep(HOUR / 6);
    await untilEmailIs(pipeline, id, 'delivered');
    expect(await triesOf(pipeline, id)).toBe(1);
    expect(await pipeline.balance(account)).toBe(999);
  });

  test('fails within them once its account is closed, and is refunded', async () => {
    const { account, id } = await waiting();
    await pipeline.setStatus(account, 'closed');
    await pipeline.sleep(HOUR / 6);
    await untilEmailIs(pipeline, id, 'failed');
    expect(await storedEmail(pipeline, id)).toMatchObject({ errorCode: 'account_closed', refunds: 1 });
    expect(await triesOf(pipeline, id)).toBe(0);
    expect(await pipeline.balance(account)).toBe(1000);
    expect(await pipeline.untilClosed(id)).toBe('COMPLETED');
  });
});
