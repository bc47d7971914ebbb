import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../db/ids.ts';
import { cancelUpdate } from '../../workflows/contracts.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/httpReceiver.ts';
import { mailAccount, notifiedOf, sendEmailOf, storedEmail } from './emails.ts';
import { lookUp, writtenLookup } from './lookups.ts';
import { HOUR, type Pipeline, startPipeline, until, undisturbedIn } from './pipeline.ts';
import { receiveReplies, startReply } from './replies.ts';

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
  email: 25,
  emailWithWebhooks: 45,
};

let pipeline: Pipeline;
const calm = undisturbedIn(() => pipeline);
let receiver: HttpReceiver;

beforeAll(async () => {
  receiver = await startHttpReceiver((response) => response.writeHead(204).end());
  pipeline = await startPipeline('real');
}, 120_000);
afterAll(async () => {
  await pipeline?.close();
  await receiver?.close();
}, 180_000);

/** The types of a closed workflow's events; the list says where a budget went. */
async function eventsOf(workflowId: string): Promise<string[]> {
  const handle = pipeline.client.workflow.getHandle(workflowId);
  await until(
    `${workflowId} closes`,
    async () => (await handle.describe()).status.name !== 'RUNNING',
    120_000,
  );
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

test(
  'a message sent at once; the first one of its route, which is not known to be quick, goes through its queue after that',
  calm(async () => {
    for (const budget of [BUDGET.immediate + BUDGET.notReady, BUDGET.immediate]) {
      const id = await send(await pipeline.account());
      await pipeline.untilStatus(id, 'delivered');
      expectWithin(await eventsOf(id), budget);
    }
  }),
  60_000,
);

test(
  'messages that were charged together, and the workflow that charges them, however many they are',
  calm(async () => {
    const account = await pipeline.account();
    for (const count of [2, 40]) {
      const messages = await Promise.all(Array.from({ length: count }, () => pipeline.draft(account)));
      const id = newId('acc');
      await pipeline.acceptTogether(id, messages);
      for (const message of messages) await pipeline.untilStatus(message.id, 'delivered');
      expectWithin(await eventsOf(messages[0]!.id), BUDGET.gathered);
      expectWithin(await eventsOf(id), BUDGET.gatheredCall);
    }
  }),
  120_000,
);

test(
  'a message sent at once, with the webhooks message.sent and message.delivered',
  calm(async () => {
    const id = await send(await pipeline.account({ webhookUrl: receiver.url }));
    const events = await eventsOf(id);
    const delivered = await pipeline.sql`
    select type from webhook_events where subject_id = ${id} and state = 'delivered' order by id`;
    expect(delivered.map(({ type }) => type as string)).toEqual(['message.sent', 'message.delivered']);
    expectWithin(events, BUDGET.immediateWithWebhooks);
  }),
  60_000,
);

test(
  'a scheduled message',
  calm(async () => {
    const id = await send(await pipeline.account(), Date.now() + 2_000);
    await pipeline.untilStatus(id, 'delivered');
    expectWithin(await eventsOf(id), BUDGET.scheduled);
  }),
  60_000,
);

test(
  'a scheduled message that is cancelled',
  calm(async () => {
    const id = await send(await pipeline.account(), Date.now() + HOUR);
    await pipeline.client.workflow.getHandle(id).executeUpdate(cancelUpdate);
    expectWithin(await eventsOf(id), BUDGET.cancelled);
  }),
  60_000,
);

test(
  'a number look-up',
  calm(async () => {
    const account = await pipeline.account();
    const id = await writtenLookup(pipeline, account);
    expect(await lookUp(pipeline, account, id)).toEqual({ state: 'done', reason: null });
    expectWithin(await eventsOf(id), BUDGET.lookup);
  }),
  60_000,
);

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

test('an e-mail that is sent and delivered, without and with a webhook, to the end of its wait', async () => {
  for (const [budget, webhook] of [
    [BUDGET.email, {}],
    [BUDGET.emailWithWebhooks, { webhookUrl: receiver.url }],
  ] as const) {
    const account = await mailAccount(pipeline, webhook);
    const id = await sendEmailOf(pipeline, account, { giveUpAt: Date.now() + 10_000 });
    const events = await eventsOf(id);
    expect(await storedEmail(pipeline, id)).toMatchObject({ status: 'delivered' });
    const notified = await notifiedOf(pipeline, id);
    expect(notified.map(({ kind, state }) => [kind, state])).toEqual(
      'webhookUrl' in webhook
        ? [
            ['sent', 'delivered'],
            ['delivered', 'delivered'],
          ]
        : [],
    );
    expectWithin(events, budget);
  }
}, 120_000);

test('a request of 500 recipients costs its batch no more than one of two', async () => {
  const account = await pipeline.account({ balance: 500 * 15 });
  // Scheduled for later: what counts here is the batch.
  const first = await pipeline.draft(account, { sendAt: Date.now() + HOUR });
  await pipeline.sql`
    insert into messages (id, account_id, request_id, accepted_as, recipient, sender, text, parts, cost_grosze,
                          send_at, give_up_at, route)
    select 'msg_' || lpad(n::text, 26, '0'), account_id, request_id, accepted_as, recipient, sender, text, parts,
           cost_grosze, send_at, give_up_at, route
      from messages cross join generate_series(1, 499) as n where id = ${first.id}`;
  expect(await pipeline.acceptBatch(account, first.requestId, 500)).toEqual({ accepted: true });
  expectWithin(await eventsOf(first.requestId), BUDGET.batch);
  const listed = async () => (await pipeline.client.workflow.count(`Request = '${first.requestId}'`)).count;
  // The batch itself has the attribute too. Lists may be some seconds behind.
  await until('all are listed', async () => (await listed()) >= 501, 60_000);
  expect(await listed()).toBe(501);
}, 180_000);
