import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endEmail } from '../../db/emails/handOver.ts';
import { startableEmails } from '../../db/emails/accept.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/httpReceiver.ts';
import {
  startEmail,
  writtenEmail,
  mailAccount,
  notifiedOf,
  reportEmail,
  sendEmailOf,
  storedEmail,
  triesOf,
  untilEmailIs,
} from './emails.ts';
import { HOUR, type Pipeline, startPipeline } from './pipeline.ts';
import { until } from '../support/eventually.ts';

let pipeline: Pipeline;
let receiver: HttpReceiver;
beforeAll(async () => {
  receiver = await startHttpReceiver((response) => response.writeHead(204).end());
  pipeline = await startPipeline();
});
afterAll(async () => {
  await pipeline?.close();
  await receiver?.close();
});

const handle = (id: string) => pipeline.client.workflow.getHandle(id);
const stored = (id: string) => storedEmail(pipeline, id);

/** How often the workflow asked for a hand-over: each may have had several attempts. */
async function handOversOf(id: string): Promise<number> {
  const { events } = await handle(id).fetchHistory();
  return events!.filter(
    ({ activityTaskScheduledEventAttributes: asked }) => asked?.activityType?.name === 'handOver',
  ).length;
}

/** Whether the last hand-over that the workflow asked for is still under way, with all its attempts. */
async function isHandingOver(id: string): Promise<boolean> {
  const { events } = await handle(id).fetchHistory();
  const last = events!.findLast(
    ({ activityTaskScheduledEventAttributes: asked }) => asked?.activityType?.name === 'handOver',
  );
  const ended = events!.some(
    ({ activityTaskCompletedEventAttributes: done, activityTaskTimedOutEventAttributes: timedOut }) =>
      String((done ?? timedOut)?.scheduledEventId) === String(last?.eventId),
  );
  return last !== undefined && !ended;
}

const untilNotified = (id: string, kinds: readonly string[]) =>
  until(`${id} is notified of ${kinds.join(', ')}`, async () => {
    const taken = (await notifiedOf(pipeline, id)).filter(({ state }) => state === 'delivered');
    return taken.length === kinds.length && taken.every(({ kind }, index) => kind === kinds[index]);
  });

describe('waiting for events', () => {
  test('its webhook is notified for 72 hours, in the order of the events; then it ends', async () => {
    const account = await mailAccount(pipeline, { webhookUrl: receiver.url });
    const id = await sendEmailOf(pipeline, account);
    await untilNotified(id, ['sent', 'delivered']);
    await pipeline.sleep(71 * HOUR);
    expect(await pipeline.stateOf(id)).toBe('RUNNING');
    await reportEmail(pipeline, id, { kind: 'opened' });
    await untilNotified(id, ['sent', 'delivered', 'opened']);
    await pipeline.sleep(HOUR + 1_000);
    expect(await pipeline.untilClosed(id)).toBe('COMPLETED');
    expect(await handle(id).result()).toEqual({ status: 'delivered' });
    expect(await triesOf(pipeline, id)).toBe(1);
    expect(await pipeline.balance(account)).toBe(999);
  });

  // As in budget.test.ts, to the end of its wait.
  test.each([
    ['without a webhook', {}, [], 22],
    ['with a webhook', { webhookUrl: true }, ['sent', 'delivered'], 42],
  ])('takes few events of history, %s', async (_, webhook, kinds, budget) => {
    const url = 'webhookUrl' in webhook ? { webhookUrl: receiver.url } : {};
    const id = await sendEmailOf(pipeline, await mailAccount(pipeline, url));
    await untilEmailIs(pipeline, id, 'delivered');
    await untilNotified(id, kinds);
    await pipeline.sleep(73 * HOUR);
    expect(await pipeline.untilClosed(id)).toBe('COMPLETED');
    const { events } = await handle(id).fetchHistory();
    const names = events!.map(({ eventType }) => String(eventType));
    expect(names.length, names.join(' ')).toBeLessThanOrEqual(budget);
  });

  test('one of which nothing is reported stays sent, and is paid', async () => {
    const account = await mailAccount(pipeline);
    const id = await sendEmailOf(pipeline, account, { to: ['silent@klient.example'] });
    await untilEmailIs(pipeline, id, 'sent');
    await pipeline.sleep(73 * HOUR);
    expect(await pipeline.untilClosed(id)).toBe('COMPLETED');
    expect(await stored(id)).toMatchObject({ status: 'sent', refunds: 0 });
    expect(await pipeline.balance(account)).toBe(999);
  });

  test('an event after the end is delivered by a run that hands nothing over', async () => {
    const account = await mailAccount(pipeline, { webhookUrl: receiver.url });
    const id = await sendEmailOf(pipeline, account);
    await untilNotified(id, ['sent', 'delivered']);
    await pipeline.sleep(73 * HOUR);
    await pipeline.untilClosed(id);
    await reportEmail(pipeline, id, { kind: 'complained', addresses: ['jan@klient.example'] });
    await untilNotified(id, ['sent', 'delivered', 'complained']);
    expect(await stored(id)).toMatchObject({ status: 'complained' });
    await pipeline.untilClosed(id);
    expect(await handle(id).result()).toEqual({ status: 'delivered late events' });
    expect(await handOversOf(id)).toBe(0);
    expect(await triesOf(pipeline, id)).toBe(1);
  });
});

describe('events while a hand-over goes on', () => {
  test('are told of as they come: a provider that has it may not answer for hours', async () => {
    const account = await mailAccount(pipeline, { webhookUrl: receiver.url });
    const email = await writtenEmail(pipeline, account, { to: ['unanswered@klient.example'] });
    // Tried for 20 minutes: after another try without an answer the next one is minutes away.
    await pipeline.sql`
      update emails set submission = 'unanswered', first_submitted_at = now() - interval '20 minutes' where id = ${email.id}`;
    await startEmail(pipeline, email);
    // Reported before it, the try would find that the provider has the e-mail.
    await until('it is tried', async () => (await triesOf(pipeline, email.id)) > 0);
    await reportEmail(pipeline, email.id, { kind: 'delivered', addresses: ['jan@klient.example'] });
    await untilNotified(email.id, ['delivered']);
    for (const kind of ['opened', 'clicked'] as const) await reportEmail(pipeline, email.id, { kind });
    await untilNotified(email.id, ['delivered', 'opened', 'clicked']);
    expect(await isHandingOver(email.id)).toBe(true);
    await pipeline.sleep(HOUR);
    await until('it is handed over', async () => !(await isHandingOver(email.id)));
    await reportEmail(pipeline, email.id, { kind: 'opened' });
    await untilNotified(email.id, ['delivered', 'opened', 'clicked', 'opened']);
    await pipeline.sleep(73 * HOUR);
    expect(await pipeline.untilClosed(email.id)).toBe('COMPLETED');
    expect(await pipeline.balance(account)).toBe(999);
  });
});

describe('an e-mail that no provider took', () => {
  test.each([
    ['whose route has no worker', 'nobody'],
    ['whose domain is verified for no route that works', 'simulator'],
  ])('%s: it fails when the wait is over and is refunded, once', async (_, route) => {
    const account = await mailAccount(pipeline);
    const giveUpAt = (await pipeline.now()) + 8_000;
    const to = ['a@b.example', 'c@d.example'];
    const email = await writtenEmail(pipeline, account, { route, to, giveUpAt, file: 'a' });
    await pipeline.sql`update sender_domains set confirmed_at = null where account_id = ${account}`;
    await startEmail(pipeline, email);
    await untilEmailIs(pipeline, email.id, 'failed');
    // It waits no more once there is no time for another try.
    expect(await pipeline.now()).toBeGreaterThan(giveUpAt - 5_000);
    expect(await pipeline.untilClosed(email.id)).toBe('COMPLETED');
    expect(await stored(email.id)).toMatchObject({ errorCode: 'expired', pieces: 0, refunds: 1 });
    expect(await endEmail(pipeline.sql, email.id)).toBe('failed');
    expect(
      await pipeline.sql`select kind, amount_grosze from ledger_entries where subject_id = ${email.id} order by id`,
    ).toEqual([
      { kind: 'charge', amountGrosze: -2 },
      { kind: 'refund', amountGrosze: 2 },
    ]);
    expect(await pipeline.balance(account)).toBe(1000);
    expect(await triesOf(pipeline, email.id)).toBe(0);
  });

  test('refused by the provider: failed at once, refunded once, its file gone', async () => {
    const account = await mailAccount(pipeline);
    const id = await sendEmailOf(pipeline, account, { to: ['refused@klient.example'], file: 'a' });
    expect(await pipeline.untilClosed(id)).toBe('COMPLETED');
    expect(await stored(id)).toMatchObject({ status: 'failed', pieces: 0, refunds: 1 });
    expect(await pipeline.balance(account)).toBe(1000);
  });
});

describe('an e-mail that a provider may have', () => {
  test('unanswered at one with a key: handed over again, taken once', async () => {
    const account = await mailAccount(pipeline);
    const id = await sendEmailOf(pipeline, account, { to: ['unanswered@klient.example'], file: 'a' });
    await untilEmailIs(pipeline, id, 'sent');
    expect(await triesOf(pipeline, id)).toBe(2);
    await untilEmailIs(pipeline, id, 'delivered');
    expect(await stored(id)).toMatchObject({ submission: 'answered', pieces: 0, refunds: 0 });
    expect(await pipeline.balance(account)).toBe(999);
  });

  test('unanswered where no key settles it: never repeated, unknown after 72 hours, and paid', async () => {
    const account = await mailAccount(pipeline);
    const email = await writtenEmail(pipeline, account, { file: 'a' });
    // As a worker leaves it that is killed in the middle of the hand-over; the provider's key is past its time.
    await pipeline.sql`
      update emails set submission = 'submitting', first_submitted_at = now() - interval '24 hours' where id = ${email.id}`;
    await startEmail(pipeline, email);
    await until('it is unanswered', async () => (await stored(email.id)).submission === 'unanswered');
    await pipeline.sleep(71 * HOUR);
    expect(await stored(email.id)).toMatchObject({ status: 'queued', pieces: 1 });
    await pipeline.sleep(2 * HOUR);
    await untilEmailIs(pipeline, email.id, 'unknown');
    expect(await pipeline.untilClosed(email.id)).toBe('COMPLETED');
    expect(await stored(email.id)).toMatchObject({ submission: 'unanswered', pieces: 0, refunds: 0 });
    expect(await triesOf(pipeline, email.id)).toBe(0);
    expect(await pipeline.balance(account)).toBe(999);
    // What nobody expected any more.
    await reportEmail(pipeline, email.id, { kind: 'delivered', addresses: ['jan@klient.example'] });
    await untilEmailIs(pipeline, email.id, 'delivered');
  });
});

test('what was started twice is one workflow, charged once', async () => {
  const account = await mailAccount(pipeline);
  const email = await writtenEmail(pipeline, account);
  await Promise.all(Array.from({ length: 5 }, () => startEmail(pipeline, email)));
  await untilEmailIs(pipeline, email.id, 'delivered');
  expect(await startableEmails(pipeline.sql, [email.id])).toEqual([email]);
  expect(await triesOf(pipeline, email.id)).toBe(1);
  expect(await pipeline.balance(account)).toBe(999);
});
