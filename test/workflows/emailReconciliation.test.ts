import { WorkflowNotFoundError } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { reportFinding } from '../../db/maintenance/findings.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/httpReceiver.ts';
import {
  writtenEmail,
  mailAccount,
  notifiedOf,
  reportEmail,
  sendEmailOf,
  triesOf,
  untilEmailIs,
} from './emails.ts';
import { pauseSchedule, type Pipeline, startPipeline } from './pipeline.ts';
import { findingsOf, reconcileOnce, repairsOf, terminateForGood } from './reconciling.ts';
import { until } from '../support/eventually.ts';

let pipeline: Pipeline;
let receiver: HttpReceiver;
beforeAll(async () => {
  receiver = await startHttpReceiver((response) => response.writeHead(204).end());
  pipeline = await startPipeline('real');
  await pauseSchedule(pipeline.client);
});
afterAll(async () => {
  await pipeline?.close();
  await receiver?.close();
});
// What one test leaves is not to be found by the next.
afterEach(() => pipeline.sql`update webhook_events set state = 'exhausted' where state = 'pending'`);

const reconcile = () => reconcileOnce(pipeline);
const findings = (id: string) => findingsOf(pipeline, id);
const aged = (id: string) =>
  pipeline.sql`update emails set created_at = now() - interval '6 minutes' where id = ${id}`;
async function terminate(id: string): Promise<void> {
  await terminateForGood(pipeline, id);
  await aged(id);
}
const LOST = [{ kind: 'workflow_lost', state: 'repaired', repairs: 1 }];

const untilNotified = (id: string) =>
  until(`all of ${id} is delivered`, async () => {
    const events = await notifiedOf(pipeline, id);
    return events.length > 0 && events.every(({ state }) => state === 'delivered');
  });

/** Charged, and waiting for a route without a worker. */
async function waiting(account?: string): Promise<{ id: string; account: string }> {
  const of = account ?? (await mailAccount(pipeline));
  return { id: await sendEmailOf(pipeline, of, { route: 'nowhere' }), account: of };
}

const routed = (id: string) => pipeline.sql`update emails set route = 'simulator' where id = ${id}`;

describe('an e-mail whose workflow was lost', () => {
  test('terminated while it waited: handed over once, charged once', async () => {
    const { id, account } = await waiting();
    await terminate(id);
    await routed(id);
    expect(await reconcile()).toEqual({ repaired: 1, reported: 0 });
    await untilEmailIs(pipeline, id, 'delivered');
    expect(await findings(id)).toEqual(LOST);
    expect(await repairsOf(pipeline, id)).toEqual(['workflow started again']);
    expect(await triesOf(pipeline, id)).toBe(1);
    expect(await pipeline.balance(account)).toBe(999);
    expect(await reconcile()).toEqual({ repaired: 0, reported: 0 });
  });

  test('its time over and nothing handed over: failed and refunded once', async () => {
    const { id, account } = await waiting();
    await terminate(id);
    await pipeline.sql`update emails set give_up_at = now() - interval '1 second' where id = ${id}`;
    expect((await reconcile()).repaired).toBe(1);
    await untilEmailIs(pipeline, id, 'failed');
    expect(await pipeline.balance(account)).toBe(1000);
    expect(await pipeline.untilClosed(id)).toBe('COMPLETED');
    expect(await reconcile()).toEqual({ repaired: 0, reported: 0 });
  });

  test('sent and terminated: never handed over again; later events are delivered', async () => {
    const account = await mailAccount(pipeline, { webhookUrl: receiver.url });
    const id = await sendEmailOf(pipeline, account, { to: ['silent@klient.example'] });
    await untilEmailIs(pipeline, id, 'sent');
    await untilNotified(id);
    await terminate(id);
    expect(await reconcile(), 'the next event starts it').toEqual({ repaired: 0, reported: 0 });
    await reportEmail(pipeline, id, { kind: 'delivered' });
    await untilEmailIs(pipeline, id, 'delivered');
    await untilNotified(id);
    expect(await triesOf(pipeline, id)).toBe(1);
  });

  test('one that was found ended, and that Temporal has forgotten since: still reported, not repeated', async () => {
    const account = await mailAccount(pipeline);
    const { id } = await writtenEmail(pipeline, account);
    await aged(id);
    const ended = { kind: 'workflow_ended', subject: id, accountId: account, details: {} } as const;
    await reportFinding(pipeline.sql, ended);
    expect(await reconcile()).toEqual({ repaired: 0, reported: 0 });
    expect(await findings(id)).toEqual([{ kind: 'workflow_ended', state: 'open', repairs: 0 }]);
    await expect(pipeline.stateOf(id)).rejects.toThrow(WorkflowNotFoundError);
    expect(await triesOf(pipeline, id)).toBe(0);
  });
});
