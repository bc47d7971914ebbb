import { TypedSearchAttributes } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../db/ids.ts';
import { SEARCH_ATTRIBUTES } from '../../workflows/contracts.ts';
import { messageStart } from '../../workflows/startOptions.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/httpReceiver.ts';
import { pauseSchedule, type Pipeline, startPipeline } from '../workflows/pipeline.ts';
import { type Answer, listIn, pipelineLine, untilCommand } from './support.ts';
import { until } from '../support/eventually.ts';

const HOUR = 3_600_000;
let pipeline: Pipeline;
let answer = 500;
const calls: string[] = [];
let receiver: HttpReceiver;

beforeAll(async () => {
  receiver = await startHttpReceiver((response, raw) => {
    calls.push((JSON.parse(raw.toString()) as { id: string }).id);
    response.writeHead(answer).end();
  });
  pipeline = await startPipeline('real');
  await pauseSchedule(pipeline.client);
});
afterAll(async () => {
  await pipeline?.close();
  await receiver?.close();
});

const { run, ok, no } = pipelineLine(() => pipeline);

const sent = async (account: string, options: object): Promise<string> =>
  (await pipeline.send(account, options)).id;

/** Messages for later that are accepted, and have no workflow. */
async function accepted(account: string, count: number, requestId = newId('req')): Promise<string[]> {
  const messages: string[] = [];
  for (let i = 0; i < count; i += 1)
    messages.push((await pipeline.message(account, { sendAt: Date.now() + HOUR, requestId })).id);
  return messages;
}

async function unanswered(account: string): Promise<string> {
  const id = await sent(account, { ending: '905', text: 'Poufne' });
  await pipeline.untilUnanswered(id);
  return id;
}

const statusOf = async (id: string) => (await pipeline.row(id)).status;

const ids = (found: Answer) => listIn(found).map(({ id }) => (typeof id === 'string' ? id : ''));

describe('stuck', () => {
  test('counts and lists each kind with its workflow, masked and filtered', async () => {
    const account = await pipeline.account();
    const overdue = await sent(account, { sendAt: Date.now() + HOUR });
    await pipeline.sql`update messages set send_at = now() - interval '6 minutes' where id = ${overdue}`;
    const open = await unanswered(account);
    const quiet = await sent(account, { ending: '903' });
    await pipeline.untilStatus(quiet, 'sent');
    await pipeline.client.workflow.getHandle(quiet).terminate();
    expect(await ok('stuck', '--account', account)).toMatchObject({
      overdue: 1,
      unanswered: 1,
      no_report: 0,
    });
    const found = await ok('stuck', '--account', account, '--kind', 'overdue');
    expect(listIn(found)).toMatchObject([
      { kind: 'overdue', id: overdue, account_id: account, route: 'simulator', workflow: 'running' },
    ]);
    expect(ids(await ok('stuck', '--kind', 'unanswered', '--route', 'simulator'))).toContain(open);
    const silent = await ok('stuck', '--kind', 'no_report', '--minutes', '0', '--account', account);
    expect(listIn(silent)).toMatchObject([{ id: quiet, workflow: 'terminated' }]);
    expect(ids(await ok('stuck', '--account', await pipeline.account()))).toEqual([]);
    expect((await run('stuck', '--account', account)).out).not.toMatch(/Poufne|500100/);
    expect((await no('stuck', '--kind', 'lazy')).code).toBe('invalid_argument');
    expect((await no('stuck', '--route', 'nowhere')).code).toBe('not_found');
    expect((await no('stuck', '--minutes', '-1')).code).toBe('invalid_argument');
  });

  test('finds failing workflow tasks of whatever workflow, and tasks that no worker takes', async () => {
    const account = await pipeline.account();
    const tagged = new TypedSearchAttributes([{ key: SEARCH_ATTRIBUTES.account, value: account }]);
    const start = (type: string, taskQueue: string, workflowId: string) =>
      pipeline.client.workflow.start(type, { taskQueue, workflowId, typedSearchAttributes: tagged });
    const failing = newId('req');
    const waiting = newId('evt');
    await start('nothing', 'messages', failing);
    await start('notify', 'nobody', waiting);
    const sleeping = await sent(account, { sendAt: Date.now() + HOUR });
    const found = async () => ok('stuck', '--kind', 'task', '--minutes', '0', '--account', account);
    await untilCommand('both are found', async () => {
      const states = listIn(await found()).map(({ workflow }) => String(workflow));
      return states.some((state) => state.startsWith('failing')) && states.length === 2;
    });
    const things = listIn(await found());
    expect(new Set(things.map(({ id }) => id))).toEqual(new Set([failing, waiting]));
    expect(things.find(({ id }) => id === waiting)).toMatchObject({
      kind: 'task',
      account_id: account,
      workflow: 'no worker takes its task',
    });
    expect(ids(await found())).not.toContain(sleeping);
    expect(await ok('stuck', '--account', account)).toMatchObject({ timer: 0, overdue: 0 });
    for (const id of [failing, waiting]) await pipeline.client.workflow.getHandle(id).terminate();
    await untilCommand('gone', async () => ids(await found()).length === 0);
  });

  test('finds workflows that wait for a send time that is over, while the database says otherwise', async () => {
    const account = await pipeline.account();
    // No worker is there for it, so that it stays as a worker that stood still would leave it.
    const lost = newId('msg');
    const sendTime = new Date(Date.now() - HOUR);
    const known = await pipeline.message(account, { sendAt: Date.now() + HOUR });
    for (const workflowId of [lost, known.id]) {
      await pipeline.client.workflow.start('message', {
        ...messageStart({ ...known, id: workflowId }),
        taskQueue: 'nobody',
        typedSearchAttributes: new TypedSearchAttributes([
          { key: SEARCH_ATTRIBUTES.account, value: account },
          { key: SEARCH_ATTRIBUTES.status, value: 'scheduled' },
          { key: SEARCH_ATTRIBUTES.route, value: 'simulator' },
          { key: SEARCH_ATTRIBUTES.sendTime, value: sendTime },
        ]),
      });
    }
    const found = () => ok('stuck', '--kind', 'timer', '--account', account);
    await untilCommand('one is listed', async () => ids(await found()).length === 1);
    expect(ids(await found())).toEqual([lost]);
    await pipeline.sql`update messages set status = 'queued' where id = ${known.id}`;
    await untilCommand('both are listed', async () => ids(await found()).length === 2);
    expect(listIn(await found()).map(({ workflow }) => workflow)).toEqual(
      expect.arrayContaining(['waits; the message is unknown', 'waits; the message is queued']),
    );
    expect(listIn(await found())[0]).toMatchObject({ route: 'simulator', since: sendTime.toISOString() });
    for (const id of [lost, known.id]) await pipeline.client.workflow.getHandle(id).terminate();
  });
});

describe('unstick', () => {
  test('tells first; with --yes gives up what is unanswered, and is recorded', async () => {
    const account = await pipeline.account();
    await Promise.all([unanswered(account), unanswered(account)]);
    const both = ids(await ok('stuck', '--kind', 'unanswered', '--account', account));
    const asked = await ok('unstick', '--action', 'give-up', '--account', account);
    expect(asked).toMatchObject({ would: 'give-up', on: 2, of: 2 });
    expect(await Promise.all(both.map(statusOf))).toEqual(['queued', 'queued']);
    const done = await ok('unstick', '--yes', '--action', 'give-up', '--account', account);
    expect(done).toMatchObject({ action: 'give-up', done: 2, data: [] });
    for (const id of both) await pipeline.untilStatus(id, 'failed');
    expect(await ok('ledger', '--account', account)).toMatchObject({ balance_grosze: 1000, agrees: true });
    const records = await pipeline.sql`
      select details from audit_log where account_id = ${account} and action = 'bulks start' order by id`;
    expect(records).toMatchObject([
      { details: { carried_out: false } },
      { details: { action: 'give-up', account, items: 2 } },
    ]);
    expect((await no('unstick', '--yes')).code).toBe('invalid_argument');
    expect((await no('unstick', '--action', 'terminate', '--yes')).code).toBe('invalid_argument');
  });

  test('cancels what is overdue; a message whose workflow has completed is left with the reason, and the rest goes on', async () => {
    const account = await pipeline.account();
    const [gone, there] = [
      await sent(account, { sendAt: Date.now() + HOUR }),
      await sent(account, { sendAt: Date.now() + HOUR }),
    ];
    await pipeline.client.workflow.getHandle(gone).terminate();
    await pipeline.sql`
      insert into findings (kind, subject, account_id, state) values ('workflow_ended', ${gone}, ${account}, 'open')`;
    await pipeline.sql`update messages set send_at = now() - interval '1 hour' where account_id = ${account}`;
    const done = await ok('unstick', '--action', 'cancel', '--account', account, '--yes');
    expect(done).toMatchObject({ done: 1, of: 2 });
    expect(listIn(done)).toMatchObject([
      { id: gone, reason: expect.stringContaining('no running') as string },
    ]);
    expect([await statusOf(gone), await statusOf(there)]).toEqual(['scheduled', 'cancelled']);
  });
});

/** What the audit log has of a thing, as its account's. */
async function acts(account: string, subject: string): Promise<unknown[]> {
  return [
    ...(await pipeline.sql`
      select action, details from audit_log where account_id = ${account} and subject = ${subject} order by id`),
  ];
}

describe('what becomes of each', () => {
  test('is in its own audit and its account’s, whatever was named, and in messages show', async () => {
    const owners = [await pipeline.account(), await pipeline.account()];
    const both = await Promise.all(owners.map(unanswered));
    await ok('unstick', '--action', 'give-up', '--route', 'simulator', '--yes');
    for (const [index, id] of both.entries()) {
      const record = { action: 'messages give-up', details: { answered: true } };
      expect(await acts(owners[index]!, id)).toMatchObject([record]);
      const audited = listIn(await ok('audit', '--account', owners[index]!));
      expect(audited).toMatchObject([{ action: 'messages give-up', subject: id }]);
      const shown = listIn(await ok('messages', 'show', id), 'timeline').map((line) => JSON.stringify(line));
      expect(shown.filter((line) => line.includes('messages give-up'))).toHaveLength(1);
    }
  });
});

describe('messages cancel', () => {
  test('cancels and refunds to the last second; anything else is refused in words', async () => {
    const account = await pipeline.account();
    const id = await sent(account, { sendAt: Date.now() + 28_000 });
    expect(await ok('messages', 'cancel', id)).toEqual({ id, carried_out: true });
    expect(await statusOf(id)).toBe('cancelled');
    expect(await ok('ledger', '--account', account)).toMatchObject({ balance_grosze: 1000, agrees: true });
    expect((await no('messages', 'cancel', id)).message).toContain('it is cancelled');
    expect((await no('messages', 'cancel', newId('msg'))).code).toBe('not_found');
    expect((await no('messages', 'cancel', "msg_';--")).code).toBe('invalid_argument');
  });

  test('cancels one that its batch has not come to, and one whose workflow was terminated', async () => {
    const account = await pipeline.account();
    const [waiting] = await accepted(account, 1);
    expect(await ok('messages', 'cancel', waiting!)).toEqual({ id: waiting, carried_out: true });
    const lost = await sent(account, { sendAt: Date.now() + HOUR });
    await pipeline.client.workflow.getHandle(lost).terminate();
    expect(await ok('messages', 'cancel', lost)).toEqual({ id: lost, carried_out: true });
    expect(await ok('ledger', '--account', account)).toMatchObject({ balance_grosze: 1000, agrees: true });
    for (const id of [waiting!, lost]) expect(await pipeline.untilClosed(id)).toBe('COMPLETED');
  });
});

describe('messages cancel-all', () => {
  test('cancels and refunds what an account has scheduled, with and without a workflow, and nothing else', async () => {
    const [account, other] = [await pipeline.account(), await pipeline.account()];
    const theirs = await sent(other, { sendAt: Date.now() + HOUR });
    const begun = [
      await sent(account, { sendAt: Date.now() + HOUR }),
      await sent(account, { sendAt: Date.now() + HOUR }),
    ];
    const gone = await sent(account, {});
    const waiting = await accepted(account, 12);
    expect(await ok('messages', 'cancel-all', '--account', account)).toEqual({ would_cancel: 14, of: 14 });
    expect(await statusOf(begun[0]!)).toBe('scheduled');
    const done = await ok('messages', 'cancel-all', '--account', account, '--yes', '--limit', '11');
    expect(done).toEqual({ cancelled: 11, of: 14, data: [] });
    expect(await ok('messages', 'cancel-all', '--account', account, '--yes')).toEqual({
      cancelled: 3,
      of: 3,
      data: [],
    });
    for (const id of [...begun, ...waiting]) {
      expect(await statusOf(id)).toBe('cancelled');
      expect(await acts(account, id)).toMatchObject([
        { action: 'messages cancel', details: { answered: true } },
      ]);
    }
    await pipeline.untilStatus(gone, 'delivered');
    expect(await statusOf(theirs)).toBe('scheduled');
    expect(await ok('ledger', '--account', account)).toMatchObject({ balance_grosze: 985, agrees: true });
  });

  test('leaves out those whose workflow completed before them', async () => {
    const account = await pipeline.account();
    const [ended, open] = await accepted(account, 2);
    await pipeline.sql`
      insert into findings (kind, subject, account_id, state) values ('workflow_ended', ${ended!}, ${account}, 'open')`;
    const words = ['messages', 'cancel-all', '--account', account, '--limit', '1', '--yes'];
    expect(await ok(...words)).toEqual({ cancelled: 1, of: 1, data: [] });
    expect([await statusOf(ended!), await statusOf(open!)]).toEqual(['scheduled', 'cancelled']);
  });

  test('only those of one request', async () => {
    const account = await pipeline.account();
    const requestId = newId('req');
    const [one] = await accepted(account, 1, requestId);
    const other = await sent(account, { sendAt: Date.now() + HOUR });
    const words = ['messages', 'cancel-all', '--account', account, '--request', requestId, '--yes'];
    expect(await ok(...words)).toEqual({ cancelled: 1, of: 1, data: [] });
    expect([await statusOf(one!), await statusOf(other)]).toEqual(['cancelled', 'scheduled']);
    expect(await ok(...words)).toEqual({ cancelled: 0, of: 0, data: [] });
    expect((await no('messages', 'cancel-all', '--account', newId('cl'))).code).toBe('not_found');
    expect((await no('messages', 'cancel-all', '--account', account, '--request', 'x')).code).toBe(
      'invalid_argument',
    );
  });
});

describe('webhooks', () => {
  const untilEvents = (account: string, state: string, count: number) =>
    until(`${count} are ${state}`, async () => {
      const events = await pipeline.sql`
        select from webhook_events where account_id = ${account} and state = ${state}`;
      return events.count === count;
    });

  test('lists what nobody took, and delivers it again when asked twice', async () => {
    answer = 500;
    const account = await pipeline.account({ webhookUrl: receiver.url });
    for (let count = 0; count < 2; count += 1) await sent(account, { ending: '902' });
    await untilEvents(account, 'exhausted', 2);
    const listed = await ok('webhooks', 'list', '--account', account, '--state', 'exhausted');
    expect(listIn(listed)[0]).toMatchObject({
      type: 'message.failed',
      attempts: 3,
      status_code: 500,
      resends: 0,
    });
    expect(await ok('stuck', '--account', account)).toMatchObject({ webhook: 2 });
    expect(await ok('webhooks', 'resend', '--account', account)).toMatchObject({ would_resend: 2 });
    answer = 200;
    const before = calls.length;
    expect(await ok('webhooks', 'resend', '--account', account, '--yes')).toMatchObject({
      resent: 2,
      data: [],
    });
    await untilEvents(account, 'delivered', 2);
    expect(calls.slice(before).sort()).toEqual(ids(listed).sort());
    const [record] = await pipeline.sql`
      select details from audit_log where account_id = ${account} and action = 'bulks start' order by id desc limit 1`;
    expect(record).toMatchObject({ details: { action: 'resend', items: 2 } });
    for (const id of ids(listed))
      expect(await acts(account, String(id))).toMatchObject([
        { action: 'webhooks resend', details: { round: 1 } },
      ]);
  });

  test('one by its id, whatever its state; unknown ones are refused', async () => {
    answer = 200;
    const account = await pipeline.account({ webhookUrl: receiver.url });
    await sent(account, { ending: '902' });
    await untilEvents(account, 'delivered', 1);
    const [id = ''] = ids(await ok('webhooks', 'list', '--account', account, '--state', 'delivered'));
    expect(await ok('webhooks', 'resend', '--id', id)).toMatchObject({ resent: 1 });
    expect(await acts(account, id)).toEqual([{ action: 'webhooks resend', details: { round: 1 } }]);
    await until('it comes again', () => Promise.resolve(calls.filter((call) => call === id).length === 2));
    expect((await no('webhooks', 'resend', '--id', newId('evt'))).code).toBe('refused');
    expect((await no('webhooks', 'resend', '--id', id, '--account', account)).code).toBe('refused');
    expect((await no('webhooks', 'list', '--since', 'yesterday')).code).toBe('invalid_argument');
  });
});
