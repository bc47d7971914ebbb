import { afterAll, beforeAll, expect, test } from 'vitest';
import { cancelUpdate } from '../../workflows/contracts.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/httpReceiver.ts';
import { lookUp, acceptedLookup } from './lookups.ts';
import { HOUR, type Pipeline, startPipeline } from './pipeline.ts';
import { receiveReplies, startReply } from './replies.ts';

// The number of history events is what a message costs at any scale. A commit that raises a budget says why.
const BUDGET = {
  immediate: 15,
  // An activity that found its route not ready.
  notReady: 6,
  immediateWithWebhooks: 15,
  scheduled: 21,
  cancelled: 15,
  lookup: 14,
  reply: 7,
  replyWithWebhook: 13,
};

// Each is a transaction of Temporal's: the start, the first task taken and done, and the outcome, whose update costs no more than its task.
const STATE_TRANSITIONS = 4;

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
  await pipeline.untilClosed(workflowId);
  const { events } = await pipeline.client.workflow.getHandle(workflowId).fetchHistory();
  return events!.map(({ eventType }) => String(eventType));
}

const send = async (account: string, sendAt: number | null = null): Promise<string> =>
  (await pipeline.send(account, { sendAt })).id;

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

test('a message sent at once, with the webhooks message.sent and message.delivered', async () => {
  let id = '';
  const events = await fewestEvents(
    BUDGET.immediateWithWebhooks,
    async () => (id = await send(await pipeline.account({ webhookUrl: receiver.url }))),
  );
  const { raw } = await pipeline.client.workflow.getHandle(id).describe();
  expect(Number(raw.workflowExecutionInfo?.stateTransitionCount)).toBeLessThanOrEqual(STATE_TRANSITIONS);
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
  const cancelled = async () => {
    const id = await send(await pipeline.account(), Date.now() + HOUR);
    await pipeline.client.workflow.getHandle(id).executeUpdate(cancelUpdate);
    return id;
  };
  expectWithin(await fewestEvents(BUDGET.cancelled, cancelled), BUDGET.cancelled);
});

test('a number look-up', async () => {
  const account = await pipeline.account();
  const id = await acceptedLookup(pipeline, account);
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
