import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { inboundStart, notifyStart } from '../../workflows/startOptions.ts';
import { linkTokens } from '../support/madeLinks.ts';
import { newId } from '../../db/ids.ts';
import { keepReplies } from '../../pipeline/replies.ts';
import { type HoldingReceiver, startHoldingReceiver } from './holdingReceiver.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/httpReceiver.ts';
import { ageEvents } from '../support/lateEvents.ts';
import { pauseSchedule, type Pipeline, startPipeline } from './pipeline.ts';
import { findingsOf, reconcileOnce, removeWorkflow, repairsOf } from './reconciling.ts';
import { clickOn } from '../support/clicked.ts';
import { until } from '../support/eventually.ts';

let pipeline: Pipeline;
let receiver: HoldingReceiver;
/** One that never answers, so that its first attempts are ordinary steps. */
let slow: HttpReceiver;
let slowCalls = 0;

beforeAll(async () => {
  receiver = await startHoldingReceiver();
  slow = await startHttpReceiver(() => void (slowCalls += 1));
  pipeline = await startPipeline('real');
  await pauseSchedule(pipeline.client);
});
afterAll(async () => {
  await receiver?.close();
  await slow?.close();
  await pipeline?.close();
});
afterEach(async () => {
  receiver.taking = false;
  receiver.received.length = 0;
  // What one test leaves is not to be found by the next.
  await pipeline.sql`update webhook_events set state = 'exhausted' where state = 'pending'`;
  await reconcile();
});

const reconcile = () => reconcileOnce(pipeline);
const findings = (subject: string) => findingsOf(pipeline, subject);
const age = () => ageEvents(pipeline.sql);

const accepted = async (ending: string, webhookUrl = receiver.url): Promise<string> =>
  (await pipeline.send(await pipeline.account({ webhookUrl }), { ending })).id;

/** A message that is over, its receiver called and without an answer. */
async function overAndUntold(): Promise<string> {
  const before = receiver.leftOpen;
  const id = await accepted('902');
  await pipeline.untilStatus(id, 'failed');
  await until('its receiver is called', () => Promise.resolve(receiver.leftOpen > before));
  return id;
}

async function pendingOf(message: string): Promise<string[]> {
  const rows = await pipeline.sql<{ type: string }[]>`
    select type from webhook_events where subject_id = ${message} and state = 'pending' order by id`;
  return rows.map(({ type }) => type);
}

const untilTold = (message: string) =>
  until('all is told', async () => (await pendingOf(message)).length === 0);
const untilEnded = (workflow: string) =>
  until('its workflow ends', async () => (await pipeline.stateOf(workflow)) === 'COMPLETED');

/** Delivered, as its workflow was told before the moment that Temporal was restored to. */
async function deliveredBefore(id: string): Promise<void> {
  await pipeline.sql`update messages set status = 'delivered', delivered_at = now() where id = ${id}`;
  await pipeline.sql`
    insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot)
    select ${newId('evt')}, m.account_id, 'message', m.id, 'message.delivered',
           jsonb_build_object('status', m.status, 'delivered_at', m.delivered_at, 'error_code', null, 'updated_at', m.updated_at)
      from messages m where m.id = ${id}`;
}

/** Sent and told, its workflow waits for the delivery report. */
async function sentAndTold(): Promise<string> {
  receiver.taking = true;
  const id = await accepted('903');
  await pipeline.untilStatus(id, 'sent');
  await until('that is told', () => Promise.resolve(receiver.received.length > 0));
  await untilTold(id);
  await until('its step has ended', async () => (await stepsOf(id)).length === 0);
  return id;
}

/** Starts something whose receiver is being told, by an ordinary step that has begun. */
async function beingTold(start: (webhookUrl: string) => Promise<string>): Promise<string> {
  const before = slowCalls;
  const id = await start(slow.url);
  await until('its receiver is being told', async () => {
    const steps = await stepsOf(id);
    return slowCalls > before && steps.includes('deliverWebhook');
  });
  return id;
}

async function expectLeftAlone(): Promise<void> {
  const [event] = await age();
  expect(await reconcile()).toEqual({ repaired: 0, reported: 0 });
  expect(await findings(event!)).toEqual([]);
  expect((await position()) ?? '').not.toBe(event);
}

async function stepsOf(workflow: string): Promise<(string | null | undefined)[]> {
  const { raw } = await pipeline.client.workflow.getHandle(workflow).describe();
  return raw.pendingActivities?.map(({ activityType }) => activityType?.name) ?? [];
}

async function position(): Promise<string | undefined> {
  const [row] = await pipeline.sql<{ position: string }[]>`
    select position from maintenance_positions where name = 'webhook events'`;
  return row?.position;
}

describe('events of a message', () => {
  test('its workflow gone from a restored Temporal: told once they are late, and seen to be', async () => {
    const id = await overAndUntold();
    await removeWorkflow(pipeline, id);
    receiver.taking = true;
    expect(await reconcile(), 'young').toEqual({ repaired: 0, reported: 0 });
    const [event] = await age();
    expect(await reconcile()).toEqual({ repaired: 1, reported: 0 });
    expect(await findings(event!)).toEqual([{ kind: 'events_left', state: 'repaired', repairs: 1 }]);
    expect(await repairsOf(pipeline, event!)).toEqual(['webhook event delivered']);
    await untilTold(id);
    await untilEnded(event!);
    expect(receiver.received).toEqual(['message.failed']);
    expect((await position()) ?? '', 'looked at once more').not.toBe(event);
    expect(await reconcile()).toEqual({ repaired: 0, reported: 0 });
    expect(await position()).toBe(event);
    expect(await pipeline.submits(id)).toBe(0);
  });

  test('its workflow waits in a restored Temporal for what it was told before: told', async () => {
    const id = await sentAndTold();
    await deliveredBefore(id);
    expect(await reconcile(), 'young').toEqual({ repaired: 0, reported: 0 });
    await age();
    expect(await pipeline.stateOf(id)).toBe('RUNNING');
    expect(await reconcile()).toEqual({ repaired: 1, reported: 0 });
    await untilTold(id);
    expect(receiver.received).toEqual(['message.sent', 'message.delivered']);
    expect(await pipeline.submits(id)).toBe(1);
  });

  test('several of one message: told in their order, by one workflow', async () => {
    const id = await sentAndTold();
    await deliveredBefore(id);
    await pipeline.sql`update webhook_events set state = 'pending' where subject_id = ${id}`;
    await age();
    expect(await reconcile()).toEqual({ repaired: 1, reported: 0 });
    await untilTold(id);
    expect(receiver.received).toEqual(['message.sent', 'message.sent', 'message.delivered']);
  });

  test('its workflow is at it, however long that takes: left alone, and looked at again', async () => {
    await beingTold((url) => accepted('902', url));
    await expectLeftAlone();
  });

  test('what became of it is still to be told to its workflow: left alone', async () => {
    const id = await sentAndTold();
    await deliveredBefore(id);
    // Taken by a worker that is at it.
    await pipeline.sql`
      insert into outcome_signals (message_id, status, event_ids, due_at)
      values (${id}, 'delivered', '{}', now() + interval '1 minute')`;
    await age();
    expect(await reconcile()).toEqual({ repaired: 0, reported: 0 });
    await pipeline.sql`delete from outcome_signals where message_id = ${id}`;
    expect(await reconcile()).toEqual({ repaired: 1, reported: 0 });
    await untilTold(id);
  });
});

describe('clicks and replies', () => {
  const kinds = { click: firstClick, inbound: startedReply };

  test.each(['click', 'inbound'] as const)('%s: gone from a restored Temporal, told once', async (kind) => {
    const before = receiver.leftOpen;
    const workflow = await kinds[kind]();
    await until('its receiver is called', () => Promise.resolve(receiver.leftOpen > before));
    await removeWorkflow(pipeline, workflow);
    receiver.taking = true;
    expect(await reconcile(), 'young').toEqual({ repaired: 0, reported: 0 });
    const [event] = await age();
    expect(await reconcile()).toEqual({ repaired: 1, reported: 0 });
    await untilEnded(event!);
    expect(receiver.received).toHaveLength(1);
    expect(await reconcile()).toEqual({ repaired: 0, reported: 0 });
  });

  test('one that runs is left to its workflow', async () => {
    const id = await overAndUntold();
    await removeWorkflow(pipeline, id);
    const [event] = await age();
    const accountId = await accountOf(id);
    const workflow = await pipeline.client.workflow.start('notify', {
      ...notifyStart({ id: event!, accountId }),
      taskQueue: 'nobody-works-here',
    });
    expect(await reconcile()).toEqual({ repaired: 0, reported: 0 });
    await workflow.terminate();
    receiver.taking = true;
    expect(await reconcile()).toEqual({ repaired: 1, reported: 0 });
    await untilTold(id);
  });
});

async function accountOf(message: string): Promise<string> {
  const [row] = await pipeline.sql<{ account: string }[]>`
    select account_id as account from messages where id = ${message}`;
  return row!.account;
}

/** Clicks on a new link; returns the workflow that tells of it. */
async function firstClick(webhookUrl = receiver.url): Promise<string> {
  const accountId = await pipeline.account({ webhookUrl });
  const wanted = [{ recipient: '+48500100200', url: 'https://example.com/oferta' }];
  const [token] = (await linkTokens(pipeline.sql, accountId, wanted)).values();
  await clickOn(pipeline.sql, token!);
  const [event] = await pipeline.sql<
    { id: string }[]
  >`select id from webhook_events where subject_id = ${token!}`;
  return event!.id;
}

const SHARED = '+48600700800';
let keywords = 0;

async function startedReply(webhookUrl = receiver.url): Promise<string> {
  const account = await pipeline.account({ webhookUrl });
  const keyword = `HEJ${(keywords += 1)}`;
  await pipeline.sql`
    update accounts set inbound_number = ${SHARED}, inbound_prefix = ${keyword} where id = ${account}`;
  const reply = { from: '+48500100200', to: SHARED, text: `${keyword} Tak`, providerReference: newId('in') };
  const [id] = await keepReplies(pipeline.sql, 'simulator', [reply]);
  await pipeline.client.workflow.start('inbound', inboundStart(id!));
  return id!;
}
