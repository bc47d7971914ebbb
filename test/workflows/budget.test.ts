import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../db/ids.ts';
import { cancelUpdate } from '../../workflows/contracts.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/httpReceiver.ts';
import { lookUp, writtenLookup } from './lookups.ts';
import { HOUR, type Pipeline, startPipeline } from './pipeline.ts';
import { receiveReplies, startReply } from './replies.ts';
import { until } from '../support/eventually.ts';

// The number of history events is what a message costs at any scale. Whoever raises a budget says why in its commit.
const BUDGET = {
  // By an activity: its caller waits for its charge, and for no submit.
  immediate: 25,
  // An activity that found its route not ready.
  notReady: 6,
  gathered: 20,
  gatheredCall: 30,
  immediateWithWebhooks: 36,
  scheduled: 29,
  cancelled: 22,
  batch: 30,
  lookup: 14,
  reply: 7,
  replyWithWebhook: 13,
};

let pipeline: Pipeline;
let receiver: HttpReceiver;

beforeAll(async () => {
  receiver = await startHttpReceiver((response) => response.writeHead(204).end());
  pipeline = await startPipeline('real');
});
afterAll(async () => {
  await pipeline?.close();
  await receiver?.close();
});

/** The types of a closed workflow's events; the list says where a budget went. */
async function eventsOf(workflowId: string): Promise<string[]> {
  const handle = pipeline.client.workflow.getHandle(workflowId);
  await until(`${workflowId} closes`, async () => (await handle.describe()).status.name !== 'RUNNING');
  const { events } = await handle.fetchHistory();
  return events!.map(({ eventType }) => String(eventType));
}

async function send(account: string, sendAt: number | null = null): Promise<string> {
  const message = await pipeline.draft(account, { sendAt });
  expect(await pipeline.accept(message)).toEqual({ accepted: true });
  return message.id;
}

function expectWithin(events: string[], budget: number): void {
  expect(events.length, events.join(' ')).toBeLessThanOrEqual(budget);
}

// A route or receiver that has been slow is not waited for within a workflow task, which takes more events.
const TAKEN_ANOTHER_WAY_MOST = 10;

/** The events of one that was made, and made again as long as it went another way than where all are quick. */
async function fewestEvents(budget: number, make: () => Promise<string>): Promise<string[]> {
  let events = await eventsOf(await make());
  for (let more = 0; events.length > budget && more < TAKEN_ANOTHER_WAY_MOST; more += 1)
    events = await eventsOf(await make());
  return events;
}

test('a message sent at once; the first one of its route, which is not known to be quick, goes through its queue after that', async () => {
  for (const budget of [BUDGET.immediate + BUDGET.notReady, BUDGET.immediate]) {
    expectWithin(await fewestEvents(budget, async () => send(await pipeline.account())), budget);
  }
});

test('messages that were charged together, and the workflow that charges them, however many they are', async () => {
  const account = await pipeline.account({ balance: 100_000 });
  for (const count of [2, 12]) {
    let id = '';
    const first = await fewestEvents(BUDGET.gathered, async () => {
      const messages = await Promise.all(Array.from({ length: count }, () => pipeline.draft(account)));
      id = newId('acc');
      await pipeline.acceptTogether(id, messages);
      for (const message of messages) await pipeline.untilStatus(message.id, 'delivered');
      return messages[0]!.id;
    });
    expectWithin(first, BUDGET.gathered);
    expectWithin(await eventsOf(id), BUDGET.gatheredCall);
  }
});

test('a message sent at once, with the webhooks message.sent and message.delivered', async () => {
  let id = '';
  const events = await fewestEvents(
    BUDGET.immediateWithWebhooks,
    async () => (id = await send(await pipeline.account({ webhookUrl: receiver.url }))),
  );
  const delivered = await pipeline.sql`
    select type from webhook_events where subject_id = ${id} and state = 'delivered' order by id`;
  expect(delivered.map(({ type }) => type as string)).toEqual(['message.sent', 'message.delivered']);
  expectWithin(events, BUDGET.immediateWithWebhooks);
});

test('a scheduled message', async () => {
  const soon = async () => send(await pipeline.account(), Date.now() + 2_000);
  expectWithin(await fewestEvents(BUDGET.scheduled, soon), BUDGET.scheduled);
});

test('a scheduled message that is cancelled', async () => {
  const id = await send(await pipeline.account(), Date.now() + HOUR);
  await pipeline.client.workflow.getHandle(id).executeUpdate(cancelUpdate);
  expectWithin(await eventsOf(id), BUDGET.cancelled);
});

test('a number look-up', async () => {
  const account = await pipeline.account();
  const id = await writtenLookup(pipeline, account);
  expect(await lookUp(pipeline, account, id)).toEqual({ state: 'done', reason: null });
  expectWithin(await eventsOf(id), BUDGET.lookup);
});

test('a reply, without and with the webhook message.received', async () => {
  const [quiet, told] = [await pipeline.account(), await pipeline.account({ webhookUrl: receiver.url })];
  await receiveReplies(pipeline, quiet, 'CICHO');
  await receiveReplies(pipeline, told, 'GLOSNO');
  expectWithin(await eventsOf(await startReply(pipeline, '+48500100200', 'cicho stop')), BUDGET.reply);
  const id = await startReply(pipeline, '+48500100200', 'glosno tak');
  expectWithin(await eventsOf(id), BUDGET.replyWithWebhook);
  expect(await pipeline.sql`select state from webhook_events where subject_id = ${id}`).toEqual([
    { state: 'delivered' },
  ]);
});

const MANY = 60;

test('a request of many recipients costs its batch no more than one of two', async () => {
  const account = await pipeline.account({ balance: MANY * 15 });
  // Scheduled for later: what counts here is the batch.
  const first = await pipeline.draft(account, { sendAt: Date.now() + HOUR });
  await pipeline.sql`
    insert into messages (id, account_id, request_id, accepted_as, recipient, sender, text, parts, cost_grosze,
                          send_at, give_up_at, route)
    select 'msg_' || lpad(n::text, 26, '0'), account_id, request_id, accepted_as, recipient, sender, text, parts,
           cost_grosze, send_at, give_up_at, route
      from messages cross join generate_series(2, ${MANY}::int) as n where id = ${first.id}`;
  expect(await pipeline.acceptBatch(account, first.requestId, MANY)).toEqual({ accepted: true });
  expectWithin(await eventsOf(first.requestId), BUDGET.batch);
  const listed = async () => (await pipeline.client.workflow.count(`Request = '${first.requestId}'`)).count;
  // The batch itself has the attribute too. Lists may be some seconds behind.
  await until('all are listed', async () => (await listed()) > MANY);
  expect(await listed()).toBe(MANY + 1);
});
