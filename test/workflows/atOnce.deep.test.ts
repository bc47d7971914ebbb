import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type HttpReceiver, startHttpReceiver } from '../support/httpReceiver.ts';
import { decideOn } from './decisions.ts';
import { reportDelivered } from './deliveryReports.ts';
import { type MessageOptions, type Pipeline, startPipeline } from './pipeline.ts';
import { until } from '../support/eventually.ts';

// Steps made within the workflow task, where the route or the receiver has been quick.
let pipeline: Pipeline;
let receiver: HttpReceiver;
/** By path; a status, or null to leave the call open. */
const answers: Record<string, number | null> = { '/take': 200, '/refuse': 500, '/hang': null };
let hanging: (() => void)[] = [];

beforeAll(async () => {
  receiver = await startHttpReceiver((response, _, { url }) => {
    const status = answers[url!] ?? null;
    if (status === null) hanging.push(() => response.writeHead(200).end());
    else response.writeHead(status).end();
  });
  pipeline = await startPipeline('real');
  // The first message of a route goes through its queue.
  await delivered(await send(await pipeline.account()));
});
afterAll(async () => {
  await pipeline?.close();
  await receiver?.close();
});

const send = async (account: string, options: MessageOptions = {}): Promise<string> =>
  (await pipeline.send(account, options)).id;

/** Sends one message to each of several recipients, with these endings of their numbers. */
async function sendAll(account: string, endings: string[]): Promise<string[]> {
  return await Promise.all(endings.map((ending) => send(account, { ending })));
}

async function delivered(id: string): Promise<void> {
  await pipeline.untilStatus(id, 'delivered');
  await pipeline.untilClosed(id);
}

/** Waits until so many events of the message have been taken. */
async function told(id: string, count: number): Promise<void> {
  await until(`${count} events of ${id} are told`, async () => {
    const taken = await pipeline.sql`
      select from webhook_events where subject_id = ${id} and state = 'delivered'`;
    return taken.length === count;
  });
}

/** The activities that Temporal scheduled for a message, which each cost a round through a queue. */
async function activitiesOf(id: string): Promise<string[]> {
  const { events } = await pipeline.client.workflow.getHandle(id).fetchHistory();
  return events!
    .map((event) => event.activityTaskScheduledEventAttributes?.activityType?.name)
    .filter((name) => typeof name === 'string');
}

async function attemptsOf(id: string) {
  return await pipeline.sql<{ type: string; state: string; attempts: number[]; gaps: number[] }[]>`
    select e.type, e.state, array_agg(a.attempt order by a.attempt) as attempts,
           array_agg(extract(epoch from a.at - e.created_at)::int order by a.attempt) as gaps
      from webhook_events e left join webhook_attempts a on a.event_id = e.id
     where e.subject_id = ${id} group by e.id order by e.created_at`;
}

/** At 0 s, 2 s and 10 s, and given up. */
function expectThreeAttempts(event: Awaited<ReturnType<typeof attemptsOf>>[number]): void {
  expect(event).toMatchObject({ state: 'exhausted', attempts: [1, 2, 3] });
  const [at0, at2, at10] = event.gaps as [number, number, number];
  expect(at2 - at0).toBeGreaterThanOrEqual(1);
  expect(at2 - at0).toBeLessThanOrEqual(5);
  expect(at10 - at2).toBeGreaterThanOrEqual(7);
  expect(at10 - at2).toBeLessThanOrEqual(12);
}

describe('submits', () => {
  test('that are throttled, refused or unanswered end as they would through the queue', async () => {
    const account = await pipeline.account();
    const [throttled, refused, unanswered] = await sendAll(account, ['904', '902', '905']);
    await pipeline.untilStatus(refused!, 'failed');
    await pipeline.untilUnanswered(unanswered!);
    expect(await pipeline.submits(unanswered!)).toBe(1);
    await decideOn(pipeline, unanswered!, 'giveUp');
    await delivered(throttled!);
    expect(await pipeline.submits(throttled!)).toBe(1);
    expect(await activitiesOf(throttled!)).toEqual(['submit']);
    for (const id of [refused!, unanswered!]) await pipeline.untilClosed(id);
    expect(await pipeline.balance(account)).toBe(1000 - 15);
  });
});

describe('webhooks', () => {
  // First attempts are made before the workflow learns of the events.

  test('about a report that are refused then are tried again after 2 s and 8 s more', async () => {
    const account = await pipeline.account({ webhookUrl: `${receiver.url}/take` });
    await delivered(await send(account));
    const id = await send(account, { ending: '903' });
    await told(id, 1);
    await pipeline.sql`update accounts set webhook_url = ${`${receiver.url}/refuse`} where id = ${account}`;
    await reportDelivered(pipeline.sql, id);
    await delivered(id);
    expectThreeAttempts((await attemptsOf(id))[1]!);
  });

  test('a receiver that was quick and hangs keeps nobody else waiting', async () => {
    answers['/hang'] = null;
    hanging = [];
    const account = await pipeline.account({ webhookUrl: `${receiver.url}/take`, balance: 100_000 });
    await delivered(await send(account));
    await pipeline.sql`update accounts set webhook_url = ${`${receiver.url}/hang`} where id = ${account}`;
    await sendAll(
      account,
      Array.from({ length: 60 }, () => '000'),
    );
    await until('the receiver hangs', () => Promise.resolve(hanging.length >= 10));
    await delivered(await send(await pipeline.account()));
    for (const answer of hanging) answer();
    answers['/hang'] = 200;
    hanging = [];
    await until('all are told', async () => {
      const [left] = await pipeline.sql`
          select from webhook_events where account_id = ${account} and state = 'pending' limit 1`;
      const [open] = await pipeline.sql`
          select from messages where account_id = ${account} and status <> 'delivered' limit 1`;
      return left === undefined && open === undefined;
    });
  });
});
