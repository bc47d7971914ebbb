import { Secret, TOTP } from 'otpauth';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { reconcileOnce, terminateForGood } from '../workflows/reconciling.ts';
import { picture, reach, startBrowser } from './browser.ts';
import {
  act,
  confirm,
  type Desk,
  findMessage,
  follow,
  search,
  SENDER,
  startDesk,
  untilStatus,
  workBadly,
} from './desk.ts';
import { complaintsOf, shown, submit } from './newcomer.ts';

const HOUR = 3_600_000;
const SOON_MS = 4_000;
const VIEW = { width: 1280, colorScheme: 'light' } as const;

let desk: Desk;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let complaints: string[];
/** What was done: the command, what it was about, and why. */
const done: [action: string, subject: string, reason: string][] = [];

beforeAll(async () => {
  [desk, browser] = await Promise.all([startDesk(), startBrowser()]);
  context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
  complaints = complaintsOf(context, desk.url);
  page = await context.newPage();
});
afterAll(async () => {
  await browser?.close();
  await desk?.stop();
});

const sql = () => desk.product.sql;
const heading = () => page.getByRole('heading', { level: 1 }).innerText();
const main = () => page.locator('main').innerText();

/** Clicks, and notes what the audit log has to say of it. */
async function mend(name: string, action: string, subject: string, reason: string): Promise<void> {
  await act(page, name, reason);
  done.push([action, subject, reason]);
}

async function accepted(body: object): Promise<string> {
  return (await desk.account.api.accepted({ text: 'Dzień dobry', ...body })).id;
}

/** Columns of a message. */
async function stored(id: string) {
  const [row] = await sql()<{ requestId: string; providerId: string; refunds: number }[]>`
    select request_id, (select p.provider_message_id from message_parts p where p.message_id = m.id) as provider_id,
           (select count(*)::int from ledger_entries l where l.subject_id = m.id and l.kind = 'refund') as refunds
      from messages m where id = ${id}`;
  return row!;
}

/** Waits until the workflows of messages have begun, so that nothing but they know of them. */
async function untilStarted(ids: string[]): Promise<void> {
  await eventually(
    () => sql()`select from reservations where subject_id = any(${ids})`,
    ({ count }) => count === 0,
  );
}

it('staff sign in by e-mail and app, add a passkey, and sign in by that alone', async () => {
  const { address, secret, name } = desk.staff;
  await page.goto(`${desk.url}/console/accounts`);
  expect(await heading()).toBe('Sign in');
  await page.getByLabel('E-mail address').fill(address);
  await submit(page, 'Send an e-mail');
  const { apiUrl } = desk.product.service;
  const mailbox = `/simulator/mailbox?address=${encodeURIComponent(address)}`;
  const mail = await shown(apiUrl, mailbox, /(\/simulator\/email\?id=\w+)/);
  await page.getByLabel('Code of the e-mail').fill(await shown(apiUrl, mail, /\b(\d{6})\b/));
  await submit(page, 'Continue');
  const code = TOTP.generate({ secret: Secret.fromBase32(secret) });
  await page.getByLabel('Code of the authenticator app').fill(code);
  await submit(page, 'Sign in');
  expect(await heading()).toBe('Accounts');

  const debug = await context.newCDPSession(page);
  await debug.send('WebAuthn.enable');
  const options = { protocol: 'ctap2', transport: 'internal', hasUserVerification: true } as const;
  await debug.send('WebAuthn.addVirtualAuthenticator', {
    options: { ...options, hasResidentKey: true, isUserVerified: true, automaticPresenceSimulation: true },
  });
  await page.goto(`${desk.url}/console/you`);
  await page.getByLabel('Name of the passkey').fill('Laptop');
  await submit(page, 'Add a passkey');
  await page.getByRole('rowheader', { name: 'Laptop' }).waitFor();
  await Promise.all([
    page.waitForEvent('load'),
    page.getByRole('button', { name: `Sign out ${name}` }).click(),
  ]);
  await submit(page, 'Sign in with a passkey');
  expect(await heading()).toBe('Needs a person');
});

it('a carrier that is silent: submitted again, and given up with a refund', async () => {
  const { product, smsc, token, account } = desk;
  smsc.behave = () => ({ answer: 'never', taken: false });
  const earlier = await fetch(`${product.service.apiUrl}/v1/sms`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ to: '+48600100200', message: 'Zażółć', from: SENDER, idx: 'zam-1042' }),
  });
  expect(earlier.status).toBe(200);
  const [{ id: one } = { id: '' }] = await sql()<
    { id: string }[]
  >`select id from messages where idx = 'zam-1042'`;
  const other = await accepted({ to: '+48600100201', reference: 'FV/7/2026' });
  for (const id of [one, other]) await untilStatus(desk, id, 'unanswered');

  await page.goto(`${desk.url}/console`);
  await picture(page, 'console-front', VIEW);
  await follow(page, 'Unanswered');
  await picture(page, 'console-list', VIEW);
  await follow(page, one);
  const forms = ['+48 600 100 200', '0048600100200', '600-100-200', '(600) 100 200', 'tel:+48600100200'];
  const quotes = [...forms, one, (await stored(one)).requestId, 'zam-1042'];
  for (const quote of quotes) await findMessage(page, quote, one);
  await picture(page, 'console-message', VIEW);
  smsc.behave = () => ({});
  await mend('Submit again', 'messages resubmit', one, 'Operator nie ma tej wiadomości');
  await untilStatus(desk, one, 'delivered');
  await findMessage(page, (await stored(one)).providerId, one);
  expect(await main()).toMatch(/delivered/i);

  await findMessage(page, 'FV/7/2026', other);
  await mend('Give up and refund', 'messages give-up', other, 'Klient prosi o zwrot');
  await untilStatus(desk, other, 'failed');
  expect(await stored(other)).toMatchObject({ refunds: 1 });

  await search(page, account.id);
  expect(new URL(page.url()).pathname).toBe(`/console/accounts/${account.id}`);
  await picture(page, 'console-account', VIEW);
  await search(page, SENDER);
  await page.locator('main').getByRole('link', { name: account.id }).first().waitFor();
  await search(page, desk.staff.address);
  await page.locator('main').getByRole('link', { name: /^em_/ }).first().waitFor();
});

it('a webhook that nobody took: delivered again once its receiver is repaired', async () => {
  desk.receiver.status = 500;
  const id = await accepted({ to: '+48600100202' });
  const event = async () => {
    const [row] = await sql()<{ id: string }[]>`
      select id from webhook_events where subject_id = ${id} and exhausted_at is not null`;
    return row?.id ?? '';
  };
  const exhausted = await eventually(event, (found) => found !== '');
  await page.goto(`${desk.url}/console`);
  await follow(page, 'Webhook');
  await findMessage(page, exhausted, id);
  desk.receiver.status = 200;
  await mend('Deliver again', 'webhooks resend', exhausted, 'Klient naprawił odbiornik');
  await eventually(
    () => Promise.resolve(desk.receiver.taken),
    (taken) => taken.includes(exhausted),
  );
});

it('no worker, a bad build, and a start that was lost: cancelled, found, and mended by a good build', async () => {
  const at = new Date(Date.now() + SOON_MS).toISOString();
  const later = new Date(Date.now() + HOUR).toISOString();
  const overdue = await accepted({ to: '+48600100203', send_at: at });
  const failing = await accepted({ to: '+48600100204', send_at: at, reference: 'zła budowa' });
  await untilStarted([overdue, failing]);
  desk.product.worker.child.kill('SIGKILL');
  const lost = await accepted({ to: '+48600100205', send_at: later });

  await page.goto(`${desk.url}/console/now`);
  expect(await page.getByRole('row', { name: /workflow not started/ }).innerText()).toContain('1');
  await picture(page, 'console-now', VIEW);
  await sql()`delete from reservations where subject_id = ${lost}`;
  await findMessage(page, lost, lost);
  expect(await main()).toContain('it was never started');

  await eventually(
    () => sql()`select from messages where id = ${overdue} and send_at < now()`,
    ({ count }) => count === 1,
  );
  await page.goto(`${desk.url}/console/attention/overdue?minutes=0`);
  await follow(page, overdue);
  await mend('Cancel and refund', 'messages cancel', overdue, 'Za późno na tę wiadomość');
  expect(await main()).toContain('No worker answered in time');

  await workBadly(desk, async () => {
    await eventually(
      async () => {
        await page.goto(`${desk.url}/console/attention/task?minutes=0`);
        return await main();
      },
      (text) => text.includes(failing) && /failing \(attempt \d+\)/.test(text),
    );
    await picture(page, 'console-task', VIEW);
    await findMessage(page, 'zła budowa', failing);
    expect(await main()).toMatch(/Task attempt\s+\d+/);
    const link = page.getByRole('link', { name: 'Open it in the Temporal UI' });
    expect(await link.getAttribute('href')).toContain(`/workflows/${failing}`);
  });
  await desk.product.addWorker();
  await untilStatus(desk, failing, 'delivered');
  await untilStatus(desk, overdue, 'cancelled');
  expect(await stored(overdue)).toMatchObject({ refunds: 1 });

  await findMessage(page, '600 100 205', lost);
  await mend('Cancel and refund', 'messages cancel', lost, 'Klient jej już nie chce');
  await untilStatus(desk, lost, 'cancelled');
  expect(await stored(lost)).toMatchObject({ refunds: 1 });
});

it('a workflow that was terminated: cancelled; again and again: found, dismissed by a bulk; ended early: settled', async () => {
  const later = new Date(Date.now() + HOUR).toISOString();
  const [once, often] = [
    await accepted({ to: '+48600100206', send_at: later }),
    await accepted({ to: '+48600100207', send_at: later }),
  ];
  const ended = await accepted({ to: '+48600100208' });
  await untilStarted([once, often]);
  await untilStatus(desk, ended, 'delivered');
  await desk.client.workflow.getHandle(ended).result();
  await restoreBefore(ended);
  for (let i = 0; i < 4; i += 1) {
    await terminateForGood(desk, often);
    await sql()`update messages set updated_at = now() - interval '6 minutes' where id = ${often}`;
    await reconcileOnce(desk);
  }
  await terminateForGood(desk, once);

  await findMessage(page, once, once);
  expect(await main()).toMatch(/Status\s+terminated/);
  await mend('Cancel and refund', 'messages cancel', once, 'Zakończono ją przez pomyłkę');
  await untilStatus(desk, once, 'cancelled');

  await page.goto(`${desk.url}/console`);
  await follow(page, 'Workflow lost');
  const [finding] = await sql()<
    { id: number }[]
  >`select id from findings where subject = ${often} and state = 'open'`;
  await page.getByLabel(`Select ${finding!.id}`).check();
  await submit(page, 'Dismiss');
  await picture(page, 'console-bulk-dry-run', VIEW);
  await confirm(page, 'Zbadane, uruchomiona od nowa');
  done.push(['findings dismiss', often, 'Zbadane, uruchomiona od nowa']);
  await page
    .locator('main')
    .getByRole('link', { name: /^bulk_/ })
    .first()
    .click();
  await page.getByText('1 of 1: 1 done').waitFor();
  await picture(page, 'console-bulk', VIEW);

  await page.goto(`${desk.url}/console`);
  await follow(page, 'Workflow ended');
  await findMessage(page, '+48 600 100 208', ended);
  await follow(page, 'Settle');
  await page.getByLabel('As').selectOption('sent');
  await submit(page, 'Continue');
  await confirm(page, 'Operator ją ma');
  done.push(['messages settle', ended, 'Operator ją ma']);
  await untilStatus(desk, ended, 'sent');
});

/** As if the database alone had been restored from before the message went. */
async function restoreBefore(id: string): Promise<void> {
  await sql()`alter table messages disable trigger messages_transition`;
  await sql()`update messages set status = 'queued', updated_at = now() - interval '6 minutes' where id = ${id}`;
  await sql()`alter table messages enable trigger messages_transition`;
}

it('a silent carrier once more, with the keyboard alone', async () => {
  desk.smsc.behave = () => ({ answer: 'never', taken: false });
  const id = await accepted({ to: '+48600100209', reference: 'klawiatura' });
  await untilStatus(desk, id, 'unanswered');
  desk.smsc.behave = () => ({});
  const enter = async (name: string) => {
    await reach(page, name);
    await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
  };
  await page.goto(`${desk.url}/console`);
  await search(page, 'klawiatura');
  expect(await heading()).toBe(`Message ${id}`);
  await enter('Submit again');
  await enter('Continue');
  await reach(page, 'Reason');
  await page.keyboard.type('Bez myszy');
  await enter('Do it');
  await page.getByText('Done.').waitFor();
  done.push(['messages resubmit', id, 'Bez myszy']);
  await untilStatus(desk, id, 'delivered');
});

it('a message is cancelled without JavaScript', async () => {
  const id = await accepted({ to: '+48600100210', send_at: new Date(Date.now() + HOUR).toISOString() });
  const plain = await browser.newContext({
    javaScriptEnabled: false,
    storageState: await context.storageState(),
  });
  const other = await plain.newPage();
  await other.goto(`${desk.url}/console`);
  await other.getByRole('searchbox').fill('600100210');
  await Promise.all([other.waitForEvent('load'), other.keyboard.press('Enter')]);
  await act(other, 'Cancel and refund', 'Bez skryptów');
  done.push(['messages cancel', id, 'Bez skryptów']);
  await untilStatus(desk, id, 'cancelled');
  await plain.close();
});

it('the audit log names who did what to what, and why; the browser had nothing to complain about', async () => {
  const { name } = desk.staff;
  for (const [action, subject, reason] of done) {
    const records = await sql()`
      select details->>'reason' as reason from audit_log
       where actor = ${name} and action = ${action} and subject = ${subject} order by id`;
    expect([action, records.at(-1)]).toEqual([action, { reason }]);
    await search(page, subject);
    expect(await main()).toContain(subject);
  }
  await page.goto(`${desk.url}/console/commands/audit?account=${desk.account.id}&limit=500&show=yes`);
  const log = await main();
  for (const [, subject, reason] of done) {
    expect(log).toContain(subject);
    expect(log).toContain(reason);
  }
  expect(complaints).toEqual([]);
});
