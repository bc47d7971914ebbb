import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../db/ids.ts';
import { type ConsoleUnderTest, newStaff, openConsole } from '../../support/console.ts';
import { newMailAccount, takenFrom } from '../../support/email.ts';
import { eventually } from '../../support/eventually.ts';
import { database, newAccount } from '../../support/factories.ts';

let opened: ConsoleUnderTest;
beforeAll(async () => {
  opened = await openConsole();
});
afterAll(() => opened.api.stop());

const visits = (action: string, subject: string) => database()<{ actor: string; details: object }[]>`
  select actor, details from audit_log where action = ${action} and subject = ${subject} order by id`;

/** A scheduled message with a webhook event whose receiver answered markup. */
async function scheduled() {
  const account = await newAccount({ mode: 'live' });
  const sendAt = new Date(Date.now() + 86_400_000).toISOString();
  const body = { to: '500100200', text: 'Poufne <b>', send_at: sendAt };
  const { id } = await account.api.accepted(body);
  const event = newId('evt');
  const snapshot = { status: 'sent', delivered_at: null, error_code: null, updated_at: sendAt };
  await database()`
    insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot, state, exhausted_at)
    values (${event}, ${account.id}, 'message', ${id}, 'message.sent', ${database().json(snapshot)}, 'exhausted', now())`;
  await database()`
    insert into webhook_attempts (event_id, attempt, url, duration_ms, status_code, error, answer, sent_headers)
    values (${event}, 1, 'https://klient.example/', 7, 500, 'status', '<script>alert(1)</script>', 'User-Agent: x')`;
  return { account, id, event };
}

describe('the page of a message', () => {
  it('has database and Temporal in one timeline, and each act with its form or the reason why not', async () => {
    const { account, id } = await scheduled();
    const { browser } = await newStaff(opened, 'support');
    const { text } = await eventually(
      () => browser.get(`/console/messages/${id}`),
      (page) => page.text.includes('state started'),
    );
    expect(text).toContain('<b>requested</b>');
    expect(text).toMatch(/http:\/\/127\.0\.0\.1:8233\/namespaces\/[^/]+\/workflows\/msg_/);
    expect(text).toContain(`/console/commands/messages.cancel?id=${id}`);
    expect(text).toContain(`/console/accounts/${account.id}`);
    expect(text).toContain(`The message ${id} is not unanswered: it is scheduled.`);
    expect(text).toContain('its account has no webhook');
    expect(text).not.toMatch(/Poufne|500100200|alert\(1\)/);
    const cancel = { id, confirmed: 'yes', reason: 'Zgłoszenie 7' };
    expect((await browser.post('/console/commands/messages.cancel', cancel)).text).toContain('Done.');
    const { text: after } = await browser.get(`/console/messages/${id}`);
    expect(after).toContain('<b>refunded</b>');
    expect(after).toContain('<b>staff</b>');
    expect(after).not.toContain('messages.cancel?');
  });

  it('shows number, text and bodies, escaped, to who says why, which the audit log has', async () => {
    const { id } = await scheduled();
    const { browser, name } = await newStaff(opened, 'operator');
    const path = `/console/messages/${id}`;
    const finance = await newStaff(opened, 'finance');
    expect((await finance.browser.post(path, { reason: 'Klient pyta' })).status).toBe(403);
    const without = await browser.post(path, { reason: ' ' });
    expect(without.status).toBe(422);
    expect(without.text).not.toMatch(/Poufne|500100200/);
    const { status, text } = await browser.post(path, { reason: 'Klient pyta' });
    expect(status).toBe(200);
    expect(text).toContain('+48500100200');
    expect(text).toContain('Poufne &lt;b>');
    expect(text).toContain('&lt;script>alert(1)');
    expect(text).not.toContain('<script>alert');
    expect([...(await visits('messages show', id))]).toEqual([
      { actor: name, details: {} },
      { actor: name, details: { text: true, reason: 'Klient pyta' } },
    ]);
  });

  it('says so where there is no such message, and what a role does not do', async () => {
    const { browser } = await newStaff(opened, 'finance');
    for (const path of [
      `messages/${newId('msg')}`,
      'messages/x',
      `emails/${newId('em')}`,
      'accounts/cl_none',
    ])
      expect((await browser.get(`/console/${path}`)).status, path).toBe(404);
    const { id } = await scheduled();
    expect((await browser.get(`/console/messages/${id}`)).text).toContain('Your role does not do this.');
  });
});

it('the page of an e-mail has its way, masked until somebody says why', async () => {
  const account = await newMailAccount();
  const { id } = await takenFrom(account, { from: `sklep@${account.domain}`, subject: 'Tajny' });
  const { browser } = await newStaff(opened, 'support');
  const path = `/console/emails/${id}`;
  const { text } = await browser.get(path);
  expect(text).toContain('j…@klient.example');
  expect(text).toContain('<b>charged</b>');
  const whole = await browser.post(path, { reason: 'Klient pyta' });
  expect(whole.text).toContain('jan@klient.example');
  expect(text + whole.text).not.toContain('Tajny');
  expect((await visits('emails show', id)).at(-1)?.details).toMatchObject({ reason: 'Klient pyta' });
});

describe('accounts', () => {
  it('are found by a part of their name, page by page', async () => {
    const name = `Piekarnia ${newId('cl').slice(-8)}`;
    const ids = Array.from({ length: 51 }, () => newId('cl')).sort();
    await database()`insert into accounts ${database()(ids.map((id) => ({ id, name })))}`;
    const { browser } = await newStaff(opened, 'support');
    const first = await browser.get(`/console/accounts?q=${encodeURIComponent(name.toUpperCase())}`);
    expect(first.text).toContain(ids[49]);
    expect(first.text).not.toContain(ids[50]);
    const [, next = ''] = /href="([^"]+)" rel="next"/.exec(first.text) ?? [];
    const second = await browser.get(next.replaceAll('&amp;', '&'));
    expect(second.text).toContain(ids[50]);
    expect(second.text).not.toContain(ids[49]);
  });

  it('have a page that counts what suspending and closing would meet', async () => {
    const { account } = await scheduled();
    const { browser, name } = await newStaff(opened, 'support');
    const { text } = await browser.get(`/console/accounts/${account.id}`);
    expect(text).toContain(`/console/commands/accounts.set?account=${account.id}&amp;status=closed`);
    expect(text).toMatch(/1 messages and 0 e-mails that were not submitted \(PLN\s0\.10\) are cancelled/);
    expect(text).toContain('keys and tokens that get 403: 1.');
    await database()`insert into verified_numbers (account_id, msisdn) values (${account.id}, '+48500100200')`;
    const path = `/console/accounts/${account.id}`;
    expect((await browser.get(path)).text).not.toContain('500100200');
    expect((await browser.post(path, { reason: 'Klient pyta' })).text).toContain('+48500100200');
    const told = await browser.post('/console/commands/accounts.set', {
      account: account.id,
      status: 'suspended',
    });
    expect(told.text).toContain('What it would do');
    expect(told.text).toMatch(/Waiting messages<\/dt><dd>1</);
    const [row] = await database()`select status from accounts where id = ${account.id}`;
    expect(row).toEqual({ status: 'active' });
    expect([
      ...(await database()`
      select actor, details from audit_log where action = 'accounts show' and account_id = ${account.id} order by id`),
    ]).toEqual([
      { actor: name, details: {} },
      { actor: name, details: {} },
      { actor: name, details: { addresses: true, reason: 'Klient pyta' } },
    ]);
  });
});
