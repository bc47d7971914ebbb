import { byColumnName } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pauseSchedule, type Pipeline, startPipeline } from '../workflows/pipeline.ts';
import { type Answer, listIn, pipelineLine } from './support.ts';
import { until } from '../support/eventually.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline('real');
  await pauseSchedule(pipeline.client);
});
afterAll(() => pipeline?.close());

const { run, ok, no } = pipelineLine(() => pipeline);

async function unansweredMessage(): Promise<{ id: string; account: string }> {
  const account = await pipeline.account();
  const message = await pipeline.send(account, { ending: '905', text: 'Poufne' });
  await pipeline.untilUnanswered(message.id);
  return { id: message.id, account };
}

async function audited(id: string): Promise<Answer[]> {
  return [
    ...(await pipeline.sql<Answer[]>`
      select actor, action, account_id, details from audit_log where subject = ${id} order by id`),
  ].map(byColumnName);
}

describe('messages unanswered', () => {
  test('lists them with masked numbers and without texts, the longest waiting first', async () => {
    const { id, account } = await unansweredMessage();
    const later = await unansweredMessage();
    await pipeline.sql`update message_parts set answer_code = ${'0x400\u001b[2J'} where message_id = ${id}`;
    const listed = listIn(await ok('messages', 'unanswered'));
    expect(listed.map((message) => message['id'])).toEqual([id, later.id]);
    expect(listed[0]).toMatchObject({
      ...{ account_id: account, route: 'simulator', to: '+48*****905', parts: 1, unanswered_parts: [1] },
      ...{ codes: ['0x400\u001b[2J'], since: expect.stringMatching(/Z$/) as string },
    });
    expect((await run('messages', 'unanswered')).out).not.toMatch(/Poufne|500100905/);
    expect(listIn(await ok('messages', 'unanswered', '--route', 'simulator', '--limit', '1'))).toHaveLength(
      1,
    );
    expect((await no('messages', 'unanswered', '--route', 'nowhere')).code).toBe('not_found');
    expect((await no('messages', 'unanswered', '--limit', '0')).code).toBe('invalid_argument');
    const [simulator] = listIn(await ok('routes', 'list'));
    expect(simulator).toMatchObject({ name: 'simulator', unanswered: 2, queue: 0, working: true });
    for (const message of [id, later.id]) await ok('messages', 'give-up', '--id', message);
  });
});

describe('messages give-up', () => {
  test('ends the message as failed, refunds it once, and is recorded', async () => {
    const { id, account } = await unansweredMessage();
    expect(await ok('messages', 'give-up', '--id', id)).toEqual({ id, carried_out: true });
    await pipeline.untilStatus(id, 'failed');
    expect(await ok('ledger', '--account', account)).toMatchObject({ balance_grosze: 1000, agrees: true });
    expect(await audited(id)).toMatchObject([
      { action: 'messages give-up', account_id: account, details: { answered: true } },
    ]);
    const again = await no('messages', 'give-up', '--id', id);
    expect(again).toEqual({ code: 'refused', message: `The message ${id} is not unanswered: it is failed.` });
    expect(await audited(id)).toHaveLength(1);
  });
});

describe('messages resubmit of several', () => {
  test('tells first what it would do; with --yes it does what can be done, each with a record of its own', async () => {
    const [one, two] = await Promise.all([unansweredMessage(), unansweredMessage()]);
    const delivered = await pipeline.send(one.account);
    await pipeline.untilStatus(delivered.id, 'delivered');
    const line = ['messages', 'resubmit', '--id', [one.id, delivered.id, two.id, one.id].join(',')];
    const told = await ok(...line);
    expect(told).toMatchObject({ would_carry_out: 2, of: 3 });
    expect(listIn(told)).toMatchObject([
      { id: one.id, reason: null },
      { id: delivered.id, reason: `The message ${delivered.id} is not unanswered: it is delivered.` },
      { id: two.id, reason: null },
    ]);
    for (const { id } of [one, two, delivered]) expect(await audited(id)).toEqual([]);

    const done = await ok(...line, '--yes');
    expect(done).toMatchObject({ carried_out: 2, of: 3 });
    expect(listIn(done)).toMatchObject([
      { id: one.id, carried_out: true },
      { id: delivered.id, carried_out: false },
      { id: two.id, carried_out: true },
    ]);
    for (const { id, account } of [one, two]) {
      const record = { action: 'messages resubmit', account_id: account, details: { answered: true } };
      expect(await audited(id)).toMatchObject([record]);
      await until('submitted again', async () => {
        const [part] = await pipeline.sql`select tries from message_parts where message_id = ${id}`;
        return Number(part?.['tries']) > 1;
      });
    }
    expect(await audited(delivered.id)).toEqual([]);
  });

  test.each(['', 'msg_1,', 'msg_1,cl_2'])('refuses %j', async (ids) => {
    expect((await no('messages', 'resubmit', '--id', ids, '--yes')).code).toBe('invalid_argument');
  });

  test('refuses more than a thousand at a time', async () => {
    const ids = Array.from({ length: 1_001 }, (_, index) => `msg_${index}`).join(',');
    expect((await no('messages', 'resubmit', '--id', ids)).message).toContain('at most 1000');
  });
});

describe('what nothing can be decided for', () => {
  test('is refused in words, and leaves no record', async () => {
    const account = await pipeline.account();
    const delivered = await pipeline.send(account);
    await pipeline.untilStatus(delivered.id, 'delivered');
    for (const command of ['resubmit', 'give-up']) {
      expect(await no('messages', command, '--id', delivered.id)).toMatchObject({
        ...{ code: 'refused', message: `The message ${delivered.id} is not unanswered: it is delivered.` },
      });
      expect((await no('messages', command, '--id', newId('msg'))).code).toBe('not_found');
      expect((await no('messages', command, '--id', "msg_';--")).code).toBe('invalid_argument');
    }
    expect(await audited(delivered.id)).toEqual([]);
  });

  test('a workflow that is gone, and one that does not hold its message for unanswered', async () => {
    const { id } = await unansweredMessage();
    await pipeline.client.workflow.getHandle(id).terminate();
    expect((await no('messages', 'give-up', '--id', id)).message).toContain('no running workflow');
    expect(await audited(id)).toEqual([]);

    const waiting = await pipeline.send(await pipeline.account(), { ending: '903' });
    await pipeline.untilStatus(waiting.id, 'sent');
    // Only the database says so: the workflow decides.
    await pipeline.sql`alter table messages disable trigger messages_transition`;
    await pipeline.sql`update messages set status = 'queued', submission = 'unanswered' where id = ${waiting.id}`;
    await pipeline.sql`alter table messages enable trigger messages_transition`;
    expect(await no('messages', 'resubmit', '--id', waiting.id)).toEqual({
      ...{ code: 'refused', message: `The message ${waiting.id} is not unanswered any more.` },
    });
  });

  test('without a worker nobody knows whether it was carried out: that is told, and recorded', async () => {
    const { id } = await unansweredMessage();
    await pipeline.client.workflow.getHandle(id).terminate();
    await pipeline.client.workflow.start('message', { taskQueue: 'nowhere', workflowId: id });
    expect(await ok('messages', 'give-up', '--id', id)).toEqual({ id, carried_out: null });
    expect(await audited(id)).toMatchObject([{ details: { answered: false } }]);
    await pipeline.client.workflow.getHandle(id).terminate();
  });
});
