import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
  const message = await pipeline.send(account, { ending: '905', route, ...options });
  await pipeline.untilUnanswered(message.id);
  const { recipient } = await pipeline.row(message.id);
  return { id: message.id, account, recipient, route };
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

const resubmit = ({ id }: Unanswered) => decideOn(pipeline, id, 'resubmit');

/** Nothing left, nothing was refunded, and staff may still decide. */
async function isUnansweredAgain(message: Unanswered): Promise<void> {
  await pipeline.untilUnanswered(message.id);
  expect(await pipeline.balance(message.account)).toBe(985);
  expect(await pipeline.submits(message.id)).toBe(1);
  await decideOn(pipeline, message.id, 'giveUp');
  await pipeline.untilStatus(message.id, 'failed');
  expect(await pipeline.balance(message.account)).toBe(1000);
}

describe('a message submitted again by staff, which a phone may have', () => {
  test('is not refunded when its time is over before it leaves', async () => {
    const message = await unanswered({ giveUpAt: (await pipeline.now()) + HOUR });
    await disable(message.route);
    await resubmit(message);
    await until(
      'it is to be submitted',
      async () => (await pipeline.row(message.id)).submission === 'submitting',
    );
    await pipeline.sleep(HOUR + 1_000);
    await pipeline.untilStatus(message.id, 'expired');
    expect((await pipeline.row(message.id)).submission).toBe('unanswered');
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
    await pipeline.setStatus(message.account, status);
    await resubmit(message);
    await isUnansweredAgain(message);
  });
});
