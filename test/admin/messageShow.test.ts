import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StartProblem } from '../../bin/problem.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/httpReceiver.ts';
import { STORED } from '../support/channelContents.ts';
import { pauseSchedule, type Pipeline, startPipeline } from '../workflows/pipeline.ts';
import { type Answer, listIn, pipelineLine, untilCommand } from './support.ts';
import { until } from '../support/eventually.ts';

let pipeline: Pipeline;
let receiver: HttpReceiver;
const hook = (path: string) => `${receiver.url}${path}`;

beforeAll(async () => {
  receiver = await startHttpReceiver((response, _, { url }) =>
    response.writeHead(url === '/refuse' ? 500 : 204).end(),
  );
  pipeline = await startPipeline('real');
  await pauseSchedule(pipeline.client);
});
afterAll(async () => {
  await pipeline?.close();
  await receiver?.close();
});

const { run, ok } = pipelineLine(() => pipeline);

async function sent(options: object, account: object = {}): Promise<string> {
  return (await pipeline.send(await pipeline.account(account), { text: 'Poufne', ...options })).id;
}

const lines = (answer: Answer) => listIn(answer, 'timeline').map(({ event }) => event);
const facts = (answer: Answer, event: string) =>
  listIn(answer, 'timeline')
    .filter((line) => line['event'] === event)
    .map(({ details }) => details);

const acts = (answer: Answer, possible: boolean) =>
  listIn(answer, 'acts').filter((act) => act['possible'] === possible);
const possibleActs = (answer: Answer) => acts(answer, true).map(({ command }) => command);
const refusedActs = (answer: Answer) =>
  Object.fromEntries(acts(answer, false).map(({ command, reason }) => [String(command), reason]));

describe('messages show', () => {
  test.each(STORED)(
    'tells the whole way of a delivered $channel, in order, masked and without its text',
    async (stored) => {
      const id = await sent(stored, { webhookUrl: hook('/take') });
      await pipeline.untilStatus(id, 'delivered');
      await pipeline.untilClosed(id);
      const shown = await ok('messages', 'show', id);
      expect(shown).toMatchObject({
        ...{ id, status: 'delivered', to: '+48*****000', route: 'simulator' },
        ...{ workflow: 'completed', waits_for: null },
      });
      const told = lines(shown);
      const steps = ['requested', 'charged', 'submitted', 'accepted', 'status', 'webhook', 'webhook_attempt'];
      expect(told).toEqual(expect.arrayContaining(steps));
      const times = listIn(shown, 'timeline').map(({ at }) => String(at));
      expect(times).toEqual([...times].sort());
      expect(facts(shown, 'requested')).toMatchObject([
        { request_id: expect.stringMatching(/^req_/) as string },
      ]);
      expect(facts(shown, 'charged')).toEqual([{ amount_grosze: -15 }]);
      expect(facts(shown, 'status')).toEqual([{ status: 'sent' }, { status: 'delivered' }]);
      expect(facts(shown, 'report')).toMatchObject([{ route: 'simulator', part: 1, state: 'delivered' }]);
      expect(facts(shown, 'webhook_attempt')).toMatchObject([
        { type: 'message.sent', attempt: 1, status_code: 204 },
        { type: 'message.delivered', attempt: 1, status_code: 204 },
      ]);
      expect(facts(shown, 'workflow')).toMatchObject([
        { state: 'started' },
        { signal: 'outcome' },
        { state: 'completed' },
      ]);
      expect(shown['part_states']).toMatchObject([
        { part: 1, state: 'accepted', report_state: 'delivered', meaning: null },
      ]);
      expect(listIn(shown, 'webhooks')).toMatchObject([
        { type: 'message.sent', attempts: [{ status_code: 204 }] },
        { type: 'message.delivered', attempts: [{ status_code: 204 }] },
      ]);
      expect(refusedActs(shown)).toEqual({
        'messages cancel': `The message ${id} is not scheduled: it is delivered.`,
        'messages resubmit': `The message ${id} is not unanswered: it is delivered.`,
        'messages give-up': `The message ${id} is not unanswered: it is delivered.`,
        'messages settle': `The message ${id} is delivered: only one that is scheduled or queued can be settled.`,
      });
      expect(possibleActs(shown)).toEqual(['webhooks resend', 'webhooks resend', 'erase']);
      const text = await run('messages', 'show', id);
      expect(text.out).not.toMatch(/Poufne|500100000/);
      const whole = await ok('messages', 'show', id, '--text', 'yes');
      expect(whole).toMatchObject({ to: '+48500100000', text: stored.text });
      const [posted] = listIn(whole, 'webhooks');
      expect(posted?.['body']).toContain('+48500100000');
      expect(posted?.['attempts']).toMatchObject([
        { sent_headers: expect.stringContaining('X-Service-Signature') as string, answer: '' },
      ]);
      const [record] = await pipeline.sql`
      select details from audit_log where subject = ${id} and details <> '{}'`;
      expect(record).toEqual({ details: { text: true } });
    },
  );

  test('shows what a running workflow waits for, what was scheduled, and a cancel with its refund', async () => {
    const id = await sent({ sendAt: Date.now() + 3_600_000 });
    let waiting: Answer = {};
    await untilCommand('the workflow says what it waits for', async () => {
      waiting = await ok('messages', 'show', id);
      return waiting['waits_for'] !== null;
    });
    expect(waiting).toMatchObject({
      ...{ status: 'scheduled', workflow: 'running' },
      waits_for: expect.stringContaining('waits for its send time') as string,
    });
    expect(possibleActs(waiting)).toEqual(['messages cancel', 'erase']);
    expect(refusedActs(waiting)['messages settle']).toContain('has a running workflow');
    await pipeline.client.workflow.getHandle(id).signal('cancelMessage');
    await pipeline.untilClosed(id);
    const shown = await ok('messages', 'show', id);
    expect(facts(shown, 'refunded')).toEqual([{ amount_grosze: 15 }]);
    expect(facts(shown, 'status')).toEqual([{ status: 'cancelled' }]);
    expect(facts(shown, 'workflow')).toContainEqual({ signal: 'cancelMessage' });
  });

  test('shows an unanswered submit with its code, made harmless, and what an operator decided', async () => {
    const id = await sent({ ending: '905' });
    await pipeline.untilUnanswered(id);
    await pipeline.sql`update message_parts set answer_code = ${'0x400\u001b[2J'} where message_id = ${id}`;
    expect(facts(await ok('messages', 'show', id), 'submitted')).toEqual([
      { part: 1, route: 'simulator', answer: 'none', code: '0x400\ufffd[2J' },
    ]);
    expect(possibleActs(await ok('messages', 'show', id))).toEqual([
      'messages resubmit',
      'messages give-up',
      'erase',
    ]);
    await until('decided', async () => (await run('messages', 'give-up', '--id', id)).code === 0);
    await pipeline.untilStatus(id, 'failed');
    const shown = await ok('messages', 'show', id);
    expect(facts(shown, 'staff')).toEqual([{ action: 'messages give-up', actor: 'tester' }]);
    expect(shown['reason']).toBe('The message was not sent: the operator of the service gave it up.');
    expect(facts(shown, 'status')).toEqual([{ status: 'failed', error: 'given_up' }]);
    expect(facts(shown, 'refunded')).toEqual([{ amount_grosze: 15 }]);
  });

  test('a workflow ended by hand shows who is to blame; a message that never had one shows none', async () => {
    const id = await sent({ ending: '903' });
    await pipeline.untilStatus(id, 'sent');
    await pipeline.client.workflow.getHandle(id).terminate('by mistake\u0007');
    const shown = await ok('messages', 'show', id);
    expect(shown['workflow']).toBe('terminated');
    expect(facts(shown, 'workflow')).toContainEqual({ state: 'terminated', reason: 'by mistake\ufffd' });

    // Unanswered, with no workflow to carry out a decision.
    const lost = await pipeline.message(await pipeline.account());
    await pipeline.sql`update messages set submission = 'unanswered' where id = ${lost.id}`;
    const acts = refusedActs(await ok('messages', 'show', lost.id));
    expect(acts['messages resubmit']).toContain('has no running workflow');

    const rejected = await pipeline.message(await pipeline.account(), { cost: 0 });
    await pipeline.sql`update messages set status = 'rejected' where id = ${rejected.id}`;
    expect(await ok('messages', 'show', rejected.id)).toMatchObject({ status: 'rejected', workflow: 'none' });
  });

  test('without Temporal the database tells its half, and says so', async () => {
    const id = await sent({});
    await pipeline.untilStatus(id, 'delivered');
    const { ok: half, run: text } = pipelineLine(
      () => pipeline,
      () => Promise.reject(new StartProblem('TEMPORAL_ADDRESS: cannot be used.')),
    );
    const shown = await half('messages', 'show', id);
    expect(shown['workflow']).toBeNull();
    expect(lines(shown)).toContain('charged');
    expect((await text('messages', 'show', id)).out).toContain('Temporal could not be asked');
  });
});
