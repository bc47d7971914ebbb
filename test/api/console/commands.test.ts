import { request } from 'node:http';
import { beforeAll, afterAll, describe, expect, it } from 'vitest';
import { ALL_COMMANDS } from '../../../commands/all.ts';
import { OFFERS } from '../../../console/commands/offered.ts';
import { routes } from '../../../console/routes.ts';
import { newId } from '../../../db/ids.ts';
import { STAFF_ROLES } from '../../../domain/staff.ts';
import { COOKIE, type ConsoleUnderTest, newStaff, openConsole } from '../../support/console.ts';
import { database, newAccount } from '../../support/factories.ts';
import { newBrowser } from '../../support/panel.ts';

let opened: ConsoleUnderTest;
beforeAll(async () => {
  opened = await openConsole();
});
afterAll(() => opened.api.stop());

const audited = (action: string, account: string) => database()<{ actor: string; details: object }[]>`
  select actor, details from audit_log where action = ${action} and account_id = ${account} order by id`;

describe('a command of the console', () => {
  it('is one of the command line', () => {
    const known = ALL_COMMANDS.map(({ name }) => name);
    for (const name of OFFERS.keys()) expect(known).toContain(name);
  });

  it('shows what it would do, asks why, and does it once with the reason in the audit log', async () => {
    const { id: account } = await newAccount({ balance: 1_000 });
    const { browser, name } = await newStaff(opened, 'finance');
    const typed = { account, grosze: '250', note: 'Korekta' };
    const told = await browser.post('/console/commands/adjust', typed);
    expect(told.status).toBe(200);
    expect(told.text).toContain('What it would do');
    expect(told.text).toMatch(/PLN\s12\.50/);
    expect(await audited('adjust', account)).toHaveLength(0);
    const without = await browser.post('/console/commands/adjust', {
      ...typed,
      confirmed: 'yes',
      reason: ' ',
    });
    expect(without.status).toBe(422);
    const done = await browser.post('/console/commands/adjust', {
      ...typed,
      confirmed: 'yes',
      reason: 'Zgłoszenie 7',
    });
    expect(done.text).toContain('Done.');
    expect([...(await audited('adjust', account))]).toMatchObject([
      { actor: name, details: { reason: 'Zgłoszenie 7' } },
    ]);
  });

  it('names the field that is wrong, and refuses as on the command line', async () => {
    const { browser } = await newStaff(opened, 'finance');
    const wrong = await browser.post('/console/commands/adjust', { account: 'x', grosze: '1', note: 'n' });
    expect(wrong.status).toBe(422);
    expect(wrong.text).toContain('id="account-fault"');
    const missing = await browser.post('/console/commands/adjust', {
      account: newId('cl'),
      grosze: '1',
      note: 'n',
    });
    expect(missing.text).toContain('There is no account');
  });

  it('that moves much money waits for somebody else, who approves it once', async () => {
    const { id: account } = await newAccount({ balance: 0 });
    const [asks, other] = [await newStaff(opened, 'finance'), await newStaff(opened, 'finance')];
    const form = { account, grosze: '100001', note: 'n', confirmed: 'yes', reason: 'Umowa' };
    expect((await asks.browser.post('/console/commands/adjust', form)).to).toBe('/console/approvals');
    const [approval] = await database()<
      { id: string }[]
    >`select id from approvals where asked_by = ${asks.name}`;
    const path = `/console/approvals/${approval!.id}`;
    const own = await asks.browser.post(path, { approve: 'yes' });
    expect(own.status).toBe(404);
    expect(await audited('adjust', account)).toHaveLength(0);
    const both = await Promise.all([1, 2].map(() => other.browser.post(path, { approve: 'yes' })));
    expect(both.filter(({ text }) => text.includes('Done.'))).toHaveLength(1);
    expect([...(await audited('adjust', account))]).toMatchObject([
      { actor: asks.name, details: { reason: 'Umowa', approved_by: other.name } },
    ]);
  });
});

const approvalOf = async (name: string) => {
  const [approval] = await database()<{ id: string; command: string }[]>`
    select id, command from approvals where asked_by = ${name} order by id desc limit 1`;
  return approval;
};

describe('a second person', () => {
  const sure = { confirmed: 'yes', reason: 'Umowa' };

  it('is needed for money by whatever command moves it, and not for less than the limit', async () => {
    const { id: account } = await newAccount({ billing: 'postpaid', creditLimit: 10_000 });
    const statement = async (grosze: number, month: string) => {
      const id = newId('st');
      await database()`
        insert into statements (id, account_id, month, amount_grosze, due_at)
        values (${id}, ${account}, ${month}, ${grosze}, now())`;
      return id;
    };
    const [much, little] = [await statement(100_001, '2026-01-01'), await statement(100_000, '2026-02-01')];
    const { browser, name } = await newStaff(opened, 'admin');
    const ask = async (command: string, form: Record<string, string>) =>
      (await browser.post(`/console/commands/${command}`, { ...form, ...sure })).to;
    const waits = '/console/approvals';
    expect(await ask('statements.pay', { statement: much })).toBe(waits);
    expect(await ask('statements.pay', { statement: little })).toBeNull();
    expect(await ask('accounts.create', { name: 'Nowy', balance: '100001' })).toBe(waits);
    expect(await ask('accounts.set', { account, creditLimitGrosze: '100001' })).toBe(waits);
    // By one who has moved nothing that day.
    const other = await newStaff(opened, 'admin');
    const set = { account, creditLimitGrosze: '20000', ...sure };
    expect((await other.browser.post('/console/commands/accounts.set', set)).to).toBeNull();
    const paid = await database()`
      select id from statements where account_id = ${account} and paid_at is not null`;
    expect([...paid]).toEqual([{ id: little }]);
    expect(await approvalOf(name)).toMatchObject({ command: 'accounts set' });
  });

  it('sees what it would do; nobody else sees what was typed, and who asked must still be allowed to', async () => {
    const { id: account } = await newAccount({ balance: 0 });
    const [asks, other, stranger] = [
      await newStaff(opened, 'finance'),
      await newStaff(opened, 'finance'),
      await newStaff(opened, 'operator'),
    ];
    const form = { account, grosze: '100001', note: 'Poufne', ...sure };
    await asks.browser.post('/console/commands/adjust', form);
    const path = `/console/approvals/${(await approvalOf(asks.name))!.id}`;
    expect((await other.browser.get(path)).text).toMatch(/Poufne[\s\S]*What it would do[\s\S]*1,000\.01/);
    for (const { browser } of [asks, stranger]) expect((await browser.get(path)).status).toBe(404);
    expect((await stranger.browser.get('/console/approvals')).text).not.toContain('Poufne');
    await database()`update staff set role = 'support' where name = ${asks.name}`;
    expect((await other.browser.post(path, { approve: 'yes' })).status).toBe(409);
    expect(await audited('adjust', account)).toHaveLength(0);
    expect((await other.browser.post(path, {})).to).toBe('/console/approvals');
  });
});

describe('support', () => {
  it('changes no terms of an account, and approves none', async () => {
    const { id: account } = await newAccount({ balance: 0 });
    const [support, finance] = [await newStaff(opened, 'support'), await newStaff(opened, 'finance')];
    const terms = { creditLimitGrosze: '100001', pricePerPartGrosze: '1' };
    const form = { account, ...terms, confirmed: 'yes', reason: 'Umowa' };
    const refused = await support.browser.post('/console/commands/accounts.set', form);
    expect(refused.text).toContain('name at least one setting to change');
    await finance.browser.post('/console/commands/accounts.set', form);
    const path = `/console/approvals/${(await approvalOf(finance.name))!.id}`;
    expect((await support.browser.post(path, { approve: 'yes' })).status).toBe(404);
    expect(await audited('accounts set', account)).toHaveLength(0);
  });
});

describe('a form', () => {
  it('that is sent again does nothing again', async () => {
    const { id: account } = await newAccount({ balance: 0 });
    const { browser } = await newStaff(opened, 'finance');
    const typed = { account, grosze: '250', note: 'n' };
    const { text } = await browser.post('/console/commands/adjust', typed);
    const [, once = ''] = /name="once" value="([^"]+)"/.exec(text) ?? [];
    const form = { ...typed, confirmed: 'yes', reason: 'Korekta', once };
    const both = await Promise.all([1, 2].map(() => browser.post('/console/commands/adjust', form)));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 422]);
    expect(await audited('adjust', account)).toHaveLength(1);
  });

  it('of what cannot be tried says what it concerns, and whether that is possible', async () => {
    const { api } = await newAccount({ balance: 1_000, mode: 'live' });
    const later = new Date(Date.now() + 3_600_000).toISOString();
    const id = String(
      (await api.post('/v1/messages', { to: '+48600100200', text: 'T', send_at: later })).body.id,
    );
    const { browser } = await newStaff(opened, 'support');
    const told = async (command: string) =>
      (await browser.post(`/console/commands/${command}`, { id })).text.replace(/<[^>]+>/g, ' ');
    expect(await told('messages.cancel')).toMatch(
      /What it\s+concerns[\s\S]*Possible\s+yes[\s\S]*Refund\s+PLN/,
    );
    expect(await told('messages.give-up')).toMatch(/Possible\s+no\s+Reason\s+The message/);
  });
});

it('amounts below the limit come to a second person, too, once they are beyond it in a day, also at once', async () => {
  const { id: account } = await newAccount({ balance: 0 });
  const { browser, name } = await newStaff(opened, 'finance');
  const typed = { account, grosze: '30000', note: 'n' };
  const form = { ...typed, confirmed: 'yes', reason: 'Umowa' };
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => browser.post('/console/commands/adjust', form)),
  );
  expect(answers.filter(({ text }) => text.includes('Done.'))).toHaveLength(3);
  expect(answers.filter(({ to }) => to === '/console/approvals')).toHaveLength(2);
  expect(await audited('adjust', account)).toHaveLength(3);
  expect((await browser.post('/console/commands/adjust', typed)).text).toContain('Ask a second person');
  await database()`
    update moved_by_staff set at = now() - interval '25 hours' where staff_id = (select id from staff where name = ${name})`;
  expect((await browser.post('/console/commands/adjust', form)).text).toContain('Done.');
});

describe('a dry run', () => {
  it('changes nothing, whatever the command, and says in the audit log at most that it was none', async () => {
    const { id: account, api } = await newAccount({ balance: 1_000 });
    const { browser, name } = await newStaff(opened, 'admin');
    const later = new Date(Date.now() + 3_600_000).toISOString();
    const sent = await api.post('/v1/messages', { to: '+48600100200', text: 'Test', send_at: later });
    const { id: message } = sent.body;
    const values: Record<string, string> = {
      ...{
        account,
        id: message,
        name: 'Zmieniony',
        status: 'suspended',
        grosze: '700',
        note: 'n',
        reason: 'r',
      },
      ...{ msisdn: '48600100200', number: '48600100200', action: 'cancel', minutes: '0', balance: '10' },
      ...{ word: 'STOPY', keyword: 'STOPY', role: 'admin', address: 'jan@example.com', kind: 'consumer' },
    };
    const state = async () =>
      JSON.stringify([
        await database()`select * from accounts where id = ${account}`,
        await database()`select * from ledger_entries where account_id = ${account} order by id`,
        await database()`select * from senders where account_id = ${account}`,
        await database()`select * from verified_numbers where account_id = ${account}`,
        await database()`select * from messages where account_id = ${account}`,
      ]);
    const before = await state();
    let shown = 0;
    for (const [of, { command }] of OFFERS) {
      if (!('ask' in command)) continue;
      const form = Object.fromEntries(
        Object.keys(command.options).flatMap((key) => (key in values ? [[key, values[key]!]] : [])),
      );
      const { status } = await browser.post(`/console/commands/${of.replaceAll(' ', '.')}`, form);
      expect([200, 422], of).toContain(status);
      if (status === 200) shown += 1;
    }
    expect(shown).toBeGreaterThan(12);
    expect(await state()).toBe(before);
    const written = await database()<
      { details: object }[]
    >`select details from audit_log where actor = ${name}`;
    for (const { details } of written) expect(Object.values(details)).toContain(false);
  });
});

describe('who may', () => {
  it('ask for a command in the console: the roles it is offered to, and nobody else', async () => {
    for (const role of STAFF_ROLES) {
      const { browser } = await newStaff(opened, role);
      for (const [name, { roles }] of OFFERS) {
        const { status } = await browser.get(`/console/commands/${name.replaceAll(' ', '.')}`);
        expect(status, `${role} ${name}`).toBe(roles.includes(role) ? 200 : 404);
      }
    }
  });

  it('open a page: nobody without sign-in, or before the code of the app', async () => {
    const stranger = newBrowser(opened);
    const owing = await newStaff(opened, 'admin');
    await database()`
      update staff_sessions set is_proved = false where staff_id = (select id from staff where name = ${owing.name})`;
    for (const { path, methods } of routes.filter((route) => route.access !== 'anybody')) {
      for (const method of methods) {
        const at = path.replace(/:\w+/g, 'x');
        const headers = { 'sec-fetch-site': 'same-origin' };
        const sent = method === 'POST' ? { form: {}, headers } : { headers };
        expect((await stranger.ask(method, at, sent)).to, `${method} ${path}`).toMatch(/^\/console\/sign-in/);
        expect((await owing.browser.ask(method, at, sent)).to, `${method} ${path}`).toMatch(
          /^\/console\/confirm/,
        );
      }
    }
  });

  it('post a form: pages of the console alone', async () => {
    const { browser } = await newStaff(opened, 'admin');
    for (const { path } of routes.filter((route) => route.methods.includes('POST'))) {
      const at = path.replace(/:\w+/g, 'x');
      for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }, {}])
        expect((await browser.post(at, {}, headers as Record<string, string>)).status, path).toBe(403);
    }
    expect(browser.cookies.has(COOKIE)).toBe(true);
  });

  it('reach it: who names this machine, and nobody an interface of the API there', async () => {
    const browser = newBrowser(opened);
    expect((await browser.get('/console/sign-in')).status).toBe(200);
    for (const path of ['/v1/health', '/v1/messages', '/mcp', '/simulator'])
      expect((await browser.get(path)).status, path).toBe(404);
    const named = (host: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const { port } = opened.api;
        const asked = request({ host: '127.0.0.1', port, path: '/console/sign-in', headers: { host } });
        asked.on('response', (answer) => resolve(answer.resume().statusCode)).on('error', reject);
        asked.end();
      });
    expect(await named('localhost:1')).toBe(200);
    // A page of another site whose name leads here.
    expect(await named('rebound.example')).toBe(404);
  });
});
