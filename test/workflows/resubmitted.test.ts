import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { outcomeUpdate } from '../../workflows/contracts.ts';
import { decideOn } from './decisions.ts';
import { type MessageOptions, HOUR, type Pipeline, startPipeline } from './pipeline.ts';
import { until } from '../support/eventually.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline();
});
afterAll(() => pipeline.close());

interface Unanswered {
  id: string;
  account: string;
  recipient: string;
  route: string;
}

let routes = 0;

/** On a route of its own, which gave no answer. */
async function unanswered(options: MessageOptions = {}): Promise<Unanswered> {
  const [account, route] = [await pipeline.account(), `own${(routes += 1)}`];
  await pipeline.sql`insert into routes (name, kind) values (${route}, 'simulator')`;
  const message = await pipeline.message(account, { ending: '905', route, ...options });
  await pipeline.start(message);
  await until('unanswered', async () => (await submissionOf(message.id)) === 'unanswered');
  const [row] = await pipeline.sql<{ recipient: string }[]>`
    select recipient from messages where id = ${message.id}`;
  return { id: message.id, account, recipient: row!.recipient, route };
}

async function disable(route: string): Promise<void> {
  const [{ at } = { at: new Date() }] = await pipeline.sql<{ at: Date }[]>`
    with disabled as (update routes set state = 'disabled' where name = ${route})
    select clock_timestamp() as at`;
  await until('the worker says what it has open, and that is not it', async () => {
    const seen = await pipeline.sql<{ route: string; open: boolean }[]>`
      select route, sessions_wanted > 0 as open from route_workers where seen_at > ${at}`;
    return seen.length > 0 && !seen.some((one) => one.route === route && one.open);
  });
}

async function untilSubmission({ id }: Unanswered, submission: string): Promise<void> {
  await until(submission, async () => (await submissionOf(id)) === submission);
}

async function submissionOf(id: string): Promise<string | undefined> {
  const [row] = await pipeline.sql<{ submission: string }[]>`
    select submission from messages where id = ${id}`;
  return row?.submission;
}

const resubmit = ({ id }: Unanswered) => decideOn(pipeline, id, 'resubmit');

/** Nothing left, nothing was refunded, and staff may still decide. */
async function isUnansweredAgain(message: Unanswered): Promise<void> {
  await untilSubmission(message, 'unanswered');
  expect(await pipeline.balance(message.account)).toBe(985);
  expect(await pipeline.submits(message.id)).toBe(1);
  await decideOn(pipeline, message.id, 'giveUp');
  await pipeline.untilStatus(message.id, 'failed');
  expect(await pipeline.balance(message.account)).toBe(1000);
}

/** The timer that its workflow started last: the event, and its seconds. */
async function lastTimer(id: string): Promise<{ event: number; seconds: number }> {
  const { events } = await pipeline.client.workflow.getHandle(id).fetchHistory();
  const timer = events?.findLast(({ timerStartedEventAttributes }) => Boolean(timerStartedEventAttributes));
  const seconds = timer?.timerStartedEventAttributes?.startToFireTimeout?.seconds;
  return { event: Number(timer?.eventId ?? 0), seconds: Number(seconds ?? 0) };
}

test('a message that rests, as the SMSC says again and again that it has not taken a part, may be given up', async () => {
  const message = await unanswered();
  const handle = pipeline.client.workflow.getHandle(message.id);
  // Each rest is twice as long as the one before.
  for (const rest of [0, 1, 2, 4, 8]) {
    await until('waits for a report', async () => (await lastTimer(message.id)).seconds > 30);
    const { event } = await lastTimer(message.id);
    await handle.executeUpdate(outcomeUpdate, { args: [{ status: 'held', events: [] }] });
    await until('rests', async () => {
      const timer = await lastTimer(message.id);
      return timer.event > event && (rest === 0 || timer.seconds === rest);
    });
    if (rest > 0 && rest < 8) await pipeline.sleep(rest * 1_000);
  }
  await decideOn(pipeline, message.id, 'giveUp');
  await pipeline.untilStatus(message.id, 'failed');
  expect(await pipeline.balance(message.account)).toBe(1000);
  await until('ended', async () => (await handle.describe()).status.name === 'COMPLETED');
});

describe('a message submitted again by staff, which a phone may have', () => {
  test('is not refunded when its time is over before it leaves', async () => {
    const message = await unanswered({ giveUpAt: (await pipeline.now()) + HOUR });
    await disable(message.route);
    await resubmit(message);
    await untilSubmission(message, 'submitting');
    await pipeline.sleep(HOUR + 1_000);
    await pipeline.untilStatus(message.id, 'expired');
    expect(await submissionOf(message.id)).toBe('unanswered');
    expect(await pipeline.balance(message.account)).toBe(985);
  });

  test('is not rejected, nor sent, where its recipient has opted out: it is unanswered again', async () => {
    const message = await unanswered();
    await pipeline.sql`
      insert into blacklist (account_id, msisdn, reason) values (${message.account}, ${message.recipient}, 'opt_out')`;
    await resubmit(message);
    await isUnansweredAgain(message);
  });

  test.each(['suspended', 'closed'])('is unanswered again where its account is %s', async (status) => {
    const message = await unanswered();
    await pipeline.sql`update accounts set status = ${status} where id = ${message.account}`;
    await resubmit(message);
    await isUnansweredAgain(message);
  });
});
