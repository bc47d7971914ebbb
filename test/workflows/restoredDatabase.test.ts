import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../db/ids.ts';
import { addSimulatedReply } from '../../db/routes/simulator.ts';
import { requestResend, RESENDS_AT_ONCE } from '../../db/webhooks/webhookDeliveries.ts';
import { letBeTaken, reserve } from '../support/reservations.ts';
import { startReceiver, type WebhookReceiver } from '../support/webhookReceiver.ts';
import { type Pipeline, startPipeline } from './pipeline.ts';
import { until } from '../support/eventually.ts';

const NUMBER = '+48500600700';
const PHONE = '+48600000001';

let pipeline: Pipeline;
let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = await startReceiver();
  pipeline = await startPipeline();
});
afterAll(async () => {
  await pipeline?.close();
  await receiver?.close();
});

async function completed(workflowId: string): Promise<string> {
  const handle = pipeline.client.workflow.getHandle(workflowId);
  // A worker starts it within a moment.
  const status = () =>
    handle.describe().then(
      ({ status }) => status.name,
      () => 'MISSING',
    );
  await until(`${workflowId} completes`, async () => (await status()) === 'COMPLETED');
  return (await handle.describe()).runId;
}

/** Waits until a workflow that had completed is run once more, and has completed again. */
async function runAgain(workflowId: string, firstRun: string): Promise<void> {
  const handle = pipeline.client.workflow.getHandle(workflowId);
  await until(`${workflowId} is run again`, async () => {
    const { runId, status } = await handle.describe();
    return runId !== firstRun && status.name === 'COMPLETED';
  });
}

test('a STOP that the restored database has not looked at yet is honoured, though its workflow has completed', async () => {
  const account = await pipeline.account({ webhookUrl: receiver.url });
  await pipeline.sql`update accounts set inbound_number = ${NUMBER} where id = ${account}`;
  await pipeline.sql`
    insert into messages (id, account_id, request_id, status, submission, accepted_as, recipient, text, parts, cost_grosze, give_up_at, route)
    values (${newId('msg')}, ${account}, ${newId('req')}, 'delivered', 'answered', 'queued', ${PHONE}, 'x', 1, 10, now(), 'simulator')`;
  await addSimulatedReply(pipeline.sql, { from: PHONE, to: NUMBER, text: 'STOP' });
  const listed = async () =>
    (await pipeline.sql`select from blacklist where account_id = ${account} and msisdn = ${PHONE}`).count;
  await until('the sender is listed', async () => (await listed()) === 1);
  const [reply] = await pipeline.sql<
    { id: string }[]
  >`select id from inbound_messages where sender = ${PHONE}`;
  const run = await completed(reply!.id);

  await pipeline.sql.begin(async (tx) => {
    await tx`delete from webhook_attempts where event_id in (select id from webhook_events where account_id = ${account})`;
    await tx`delete from webhook_events where account_id = ${account}`;
    await tx`delete from blacklist where account_id = ${account}`;
    await tx`
      update inbound_messages
         set state = 'received', account_id = null, text = null, matched_by = null, reply_to = null, opt_out = false
       where id = ${reply!.id}`;
  });
  await reserve(pipeline.sql, { id: reply!.id, kind: 'reply', accountId: '' });
  await until('the sender is listed again', async () => (await listed()) === 1);
  await runAgain(reply!.id, run);
  expect(receiver.calls.filter(({ event }) => event.type === 'message.received')).toHaveLength(2);
});

test('further deliveries that are under way in the restored database end, and leave room for others', async () => {
  const account = await pipeline.account({ webhookUrl: receiver.url });
  const message = await pipeline.send(account);
  await completed(message.id);
  const ids = Array.from({ length: RESENDS_AT_ONCE + 1 }, () => newId('evt'));
  await pipeline.sql`
    insert into webhook_events (id, account_id, subject_kind, subject_id, type, state, snapshot)
    select new.id, account_id, subject_kind, subject_id, type, 'exhausted', snapshot
      from webhook_events, unnest(${ids}::text[]) as new(id)
     where subject_id = ${message.id} and type = 'message.sent'`;
  const ask = (id: string) => requestResend(pipeline.sql, id, account, 'account');
  const open = async () =>
    (await pipeline.sql`select from webhook_resends where account_id = ${account} and state = 'pending'`)
      .count;
  const runs: [id: string, run: string][] = [];
  for (const id of ids.slice(0, RESENDS_AT_ONCE)) {
    expect(await ask(id)).toMatchObject({ round: 1 });
    runs.push([`${id}-1`, await completed(`${id}-1`)]);
  }
  expect(await open()).toBe(0);
  const calls = receiver.calls.length;

  await pipeline.sql.begin(async (tx) => {
    await tx`delete from webhook_attempts where event_id = any(${ids})`;
    await tx`update webhook_events set state = 'exhausted' where id = any(${ids})`;
    await tx`
      update webhook_resends set state = 'pending', finished_at = null, requested_at = now() - interval '1 hour'
       where account_id = ${account}`;
  });
  for (const [id] of runs)
    await reserve(pipeline.sql, { id, kind: 'resend', accountId: account, waits: true });
  expect(await ask(ids.at(-1)!)).toBe('too_many');
  expect(await ask(ids[0]!)).toBe('under_way');
  for (const [id] of runs) await letBeTaken(pipeline.sql, id);
  await until('all rounds have ended', async () => (await open()) === 0);
  for (const [id, run] of runs) await runAgain(id, run);
  expect(receiver.calls).toHaveLength(calls + RESENDS_AT_ONCE);
  expect(await ask(ids.at(-1)!)).toMatchObject({ round: 1 });
});
