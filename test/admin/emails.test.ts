import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reportFinding } from '../../db/maintenance/findings.ts';
import { monthlySum } from '../../db/money/statements.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/httpReceiver.ts';
import {
  mailAccount,
  notifiedOf,
  sendEmailOf,
  storedEmail,
  triesOf,
  untilEmailIs,
} from '../workflows/emails.ts';
import { type Pipeline, startPipeline } from '../workflows/pipeline.ts';
import { listIn, pipelineLine } from './support.ts';
import { until } from '../support/eventually.ts';

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

const { run, ok, no } = pipelineLine(() => pipeline);

interface Shown {
  recipients: { address: string }[];
  timeline: { event: string; details: Record<string, unknown> }[];
}

describe('emails show', () => {
  test('has the whole way of an e-mail, masked and without its contents', async () => {
    const account = await mailAccount(pipeline, { webhookUrl: receiver.url });
    const id = await sendEmailOf(pipeline, account, { text: 'Poufne' });
    await untilEmailIs(pipeline, id, 'delivered');
    await until('both events are delivered', async () => {
      const notified = await notifiedOf(pipeline, id);
      return notified.length === 2 && notified.every(({ state }) => state === 'delivered');
    });
    const shown = (await ok('emails', 'show', id)) as unknown as Shown;
    expect(shown).toMatchObject({
      ...{ id, account_id: account, status: 'delivered', submission: 'answered', workflow: 'running' },
      recipients: [{ kind: 'to', address: 'j…@klient.example', state: 'delivered' }],
    });
    const kinds = shown.timeline.map(({ event }) => event).filter((event) => event !== 'workflow');
    expect(kinds.slice(0, 2)).toEqual(['requested', 'charged']);
    const { data } = (await ok('webhooks', 'list', '--account', account)) as { data: object[] };
    expect(data).toMatchObject([
      { email_id: id, type: 'email_event', state: 'delivered', message_id: null },
      { email_id: id, type: 'email_event', state: 'delivered', message_id: null },
    ]);
    for (const kind of ['handed_over', 'taken', 'report', 'webhook', 'webhook_attempt'])
      expect(kinds).toContain(kind);
    const { out } = await run('emails', 'show', id, '--addresses', 'yes');
    expect(out).toContain('jan@klient.example');
    for (const word of ['Poufne', 'Temat']) expect(out).not.toContain(word);
    const whole = await ok('emails', 'show', id, '--addresses', 'yes');
    expect(listIn(whole, 'webhooks')).toMatchObject([
      { attempts: [{ status_code: 204, answer: '' }] },
      { attempts: [{ status_code: 204, answer: '' }] },
    ]);
    const [record] = await pipeline.sql`
      select account_id, details from audit_log where action = 'emails show' and subject = ${id} order by id desc limit 1`;
    expect(record).toMatchObject({ accountId: account, details: { addresses: true } });
  });
});

test('emails list has those of one account, by status', async () => {
  const [account, other] = [await mailAccount(pipeline), await mailAccount(pipeline)];
  const [waits, sent] = [
    await sendEmailOf(pipeline, account, { route: 'nowhere' }),
    await sendEmailOf(pipeline, account),
  ];
  await sendEmailOf(pipeline, other);
  await untilEmailIs(pipeline, sent, 'delivered');
  const ids = async (...words: string[]) => {
    const { data } = (await ok('emails', 'list', '--account', account, ...words)) as {
      data: { id: string }[];
    };
    return data.map(({ id }) => id);
  };
  expect(await ids()).toEqual([sent, waits]);
  expect(await ids('--status', 'queued')).toEqual([waits]);
  expect((await no('emails', 'list', '--account', 'cl_none')).code).toBe('not_found');
  // A statement asks for them as for messages, less what came back.
  const [now] = await pipeline.sql<{ month: string }[]>`
    select to_char(now() at time zone 'Europe/Warsaw', 'YYYY-MM') as month`;
  expect((await monthlySum(pipeline.sql, account, now!.month)).amount).toBe(2);
  await ok('emails', 'give-up', waits);
  expect((await monthlySum(pipeline.sql, account, now!.month)).amount).toBe(1);
});

describe('what is stuck', () => {
  test('an e-mail that waits is listed, and given up: failed, refunded once, never handed over', async () => {
    const account = await mailAccount(pipeline);
    const id = await sendEmailOf(pipeline, account, { route: 'nowhere', file: 'a' });
    const listed = (await ok('stuck', '--kind', 'email_queued', '--account', account, '--minutes', '0')) as {
      data: { id: string }[];
    };
    expect(listed).toMatchObject({ email_queued: 1, data: [{ id, workflow: 'running' }] });
    const giveUp = async () => listIn(await ok('emails', 'show', id), 'acts')[0];
    expect(await giveUp()).toEqual({ command: 'emails give-up', id, possible: true, reason: null });
    expect(await ok('emails', 'give-up', id)).toEqual({ id, status: 'failed' });
    expect(await giveUp()).toMatchObject({
      possible: false,
      reason: expect.stringContaining('only one that waits') as string,
    });
    expect(await storedEmail(pipeline, id)).toMatchObject({
      ...{ status: 'failed', errorCode: 'given_up', pieces: 0, refunds: 1 },
    });
    expect(await pipeline.balance(account)).toBe(1000);
    expect((await no('emails', 'give-up', id)).code).toBe('refused');
    expect(await pipeline.balance(account)).toBe(1000);
    expect(await triesOf(pipeline, id)).toBe(0);
    const [record] = await pipeline.sql`
      select account_id, subject, details from audit_log where action = 'emails give-up' order by id desc limit 1`;
    expect(record).toMatchObject({ accountId: account, subject: id, details: { submission: 'waiting' } });
  });

  test('an unanswered one as well; one that a provider has not', async () => {
    const account = await mailAccount(pipeline);
    const id = await sendEmailOf(pipeline, account, { route: 'nowhere' });
    await pipeline.sql`
      update emails set submission = 'unanswered', first_submitted_at = now() - interval '24 hours' where id = ${id}`;
    const listed = await ok('stuck', '--kind', 'email_unanswered', '--account', account);
    expect(listed).toMatchObject({ email_unanswered: 1, data: [{ id }] });
    expect(await ok('emails', 'give-up', id)).toEqual({ id, status: 'failed' });
    expect(await pipeline.balance(account)).toBe(1000);
    const sent = await sendEmailOf(pipeline, account);
    await untilEmailIs(pipeline, sent, 'delivered');
    expect((await no('emails', 'give-up', sent)).code).toBe('refused');
    expect((await no('emails', 'give-up', 'em_none')).code).toBe('not_found');
    expect(await pipeline.balance(account)).toBe(999);
  });

  test('one that is being handed over is given up only where its workflow was found ended', async () => {
    const account = await mailAccount(pipeline);
    const id = await sendEmailOf(pipeline, account, { route: 'nowhere' });
    await pipeline.sql`update emails set submission = 'submitting', first_submitted_at = now() where id = ${id}`;
    expect((await no('emails', 'give-up', id)).code).toBe('refused');
    await reportFinding(pipeline.sql, {
      ...{ kind: 'workflow_ended', subject: id, accountId: account, details: {} },
    });
    expect(await ok('emails', 'give-up', id)).toEqual({ id, status: 'failed' });
    expect(await pipeline.balance(account)).toBe(1000);
  });
});

describe('erase --email', () => {
  test('of one account: counts, then erases the e-mails to an address, those too that wait, but for what a provider may have', async () => {
    const [account, other] = [await mailAccount(pipeline), await mailAccount(pipeline)];
    const to = ['Wanda@wiolonczela.example', 'jan@klient.example'];
    const gone = await sendEmailOf(pipeline, account, {
      to,
      text: 'Poufne',
      unsubscribeToken: 'a'.repeat(20),
    });
    await untilEmailIs(pipeline, gone, 'delivered');
    const open = await sendEmailOf(pipeline, account, { to, route: 'nowhere' });
    await pipeline.sql`
      update emails set submission = 'unanswered', first_submitted_at = now() - interval '24 hours' where id = ${open}`;
    const waits = await sendEmailOf(pipeline, account, { to, route: 'nowhere', file: 'a' });
    const others = await sendEmailOf(pipeline, other, { to, unsubscribeToken: 'b'.repeat(20) });
    await untilEmailIs(pipeline, others, 'delivered');
    for (const one of [account, other])
      await pipeline.sql`
        insert into suppressions (account_id, address, reason) values (${one}, 'wanda@wiolonczela.example', 'manual')`;
    const line = ['erase', '--email', 'wanda@Wiolonczela.example', '--account', account];
    expect(await ok(...line)).toEqual({
      ...{ erased: false, emails: 3, unsubscribe_links: 1, reports_of_no_email: 0 },
      ...{ people: 0, contact_addresses: 0, contacts_kept: 0, suppressions_kept: 1 },
    });
    expect(await ok(...line, '--yes')).toMatchObject({
      ...{ erased: true, emails: 3, given_up: 1, open_emails: 1 },
    });
    expect(await storedEmail(pipeline, waits)).toMatchObject({
      ...{ status: 'failed', errorCode: 'erased', pieces: 0, refunds: 1 },
    });
    const addresses = await pipeline.sql<{ emailId: string; address: string }[]>`
      select email_id, address from email_recipients where email_id = any(${[gone, open, waits, others]}) and position = 0`;
    expect(Object.fromEntries(addresses.map(({ emailId, address }) => [emailId, address]))).toEqual({
      ...{ [gone]: '***', [open]: to[0], [waits]: '***', [others]: to[0] },
    });
    expect(await pipeline.sql`select from email_contents where email_id = ${gone}`).toHaveLength(0);
    expect(await pipeline.sql`select from simulator_emails where reference = ${gone}`).toHaveLength(0);
    expect(await pipeline.sql`select from suppressions where account_id = ${account}`).toHaveLength(1);
    expect(await pipeline.sql`select account_id from unsubscribe_links`).toEqual([{ accountId: other }]);
    const [record] = await pipeline.sql`
      select subject, details from audit_log where action = 'erase' order by id desc limit 1`;
    expect(record).toMatchObject({ subject: '***', details: { erased: true, given_up: 1, open_emails: 1 } });
    expect(await pipeline.balance(account)).toBe(996);
  });
});
