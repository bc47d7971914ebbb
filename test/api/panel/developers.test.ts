import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { apiClient } from '../../support/client.ts';
import { newEarlierAccount } from '../../support/earlierClient.ts';
import { database, newAccount, newKey } from '../../support/factories.ts';
import { newPerson, type PanelUnderTest, type Person, startPanel } from '../../support/panel.ts';
import { addDays, polishDay, startOfDay } from '../../../domain/calendar.ts';

let panel: PanelUnderTest;
beforeAll(async () => {
  panel = await startPanel();
});
afterAll(() => panel.api.stop());

const ours = () => `http://127.0.0.1:${panel.api.port}`;
const statusOf = async (key: string, path = '/v1/account'): Promise<number> =>
  (await fetch(`${ours()}${path}`, { headers: { authorization: `Bearer ${key}` } })).status;

/** The row of a table, from its heading on. */
const rowOf = (text: string, heading: string): string =>
  text.slice(text.indexOf(heading)).split('</tr>')[0] ?? '';

describe('requests with a key', () => {
  it('are counted exactly, by several processes at once, and shown for seven days', async () => {
    const { browser, account } = await newPerson(panel, 'owner');
    const { key, keyId } = await newKey(account, 'test');
    const processes = [inject('service').apiUrl, ours()].map((url) => apiClient(url, key));
    await Promise.all(processes.flatMap((api) => Array.from({ length: 25 }, () => api.get('/v1/account'))));
    await database()`
      insert into key_requests (key_id, day, requests)
      select ${keyId}, (now() at time zone 'Europe/Warsaw')::date - n, 1000 * n from unnest(array[6, 7]) n`;
    const hint = `pk_test_…${key.slice(-4)}`;
    expect(rowOf((await browser.get('/panel/keys')).text, hint).replaceAll(/\s/g, '')).toContain(
      '<td>6050</td>',
    );
  });
});

describe('a key', () => {
  const made = async ({ browser }: Person, form: Record<string, string> = {}) => {
    const { text } = await browser.post('/panel/keys', { label: 'Sklep', 'scope-read': 'on', ...form });
    return /(?:pk_test_|goniec_)\w{40}/.exec(text)?.[0] ?? '';
  };
  const idOf = async (account: string) =>
    (
      await database()<{ id: string }[]>`
        select id from api_keys where account_id = ${account} and label = 'Sklep' order by id desc limit 1`
    )[0]!.id;

  it('is rotated at once, or with a day in which both work; the new one may do the same', async () => {
    const person = await newPerson(panel, 'developer');
    const first = await made(person);
    const id = await idOf(person.account);
    await database()`update api_keys set tool_budget_grosze = 700 where id = ${id}`;
    const rotated = await person.browser.post(`/panel/keys/${id}/rotate`, { grace: 'yes' });
    const [second = ''] = /pk_test_\w{40}/.exec(rotated.text) ?? [];
    expect([await statusOf(first), await statusOf(second)]).toEqual([200, 200]);
    const newer = await idOf(person.account);
    const [stored] = await database()`
      select n.label, n.scopes, n.mode, n.tool_budget_grosze as budget, n.created_by,
             extract(epoch from o.expires_at - n.created_at)::int as lasts
        from api_keys n, api_keys o where n.id = ${newer} and o.id = ${id}`;
    expect(stored).toEqual({
      ...{ label: 'Sklep', scopes: ['read'], mode: 'test', budget: 700, createdBy: person.id },
      lasts: 86_400,
    });
    expect((await person.browser.get('/panel/keys')).text).toContain('działa do');
    const third = /pk_test_\w{40}/.exec((await person.browser.post(`/panel/keys/${newer}/rotate`)).text)![0];
    expect([await statusOf(second), await statusOf(third)]).toEqual([401, 200]);
    await database()`update api_keys set expires_at = now() where id = ${id}`;
    expect(await statusOf(first)).toBe(401);
    expect((await person.browser.get('/panel/keys')).text).toContain('Przestał działać');
    for (const gone of [id, newer])
      expect((await person.browser.post(`/panel/keys/${gone}/rotate`)).status).toBe(404);
  });

  it('that was rotated is not rotated again, also at once, whether it is a key or a token', async () => {
    const person = await newPerson(panel, 'owner');
    await made(person);
    await made(person, { kind: 'token' });
    const paths = (text: string): string[] => text.match(/\/panel\/(?:keys|tokens)\/\w+\/rotate/g) ?? [];
    const former = paths((await person.browser.get('/panel/keys')).text);
    for (const path of former) {
      const twice = [{ grace: 'yes' }, { grace: 'yes' }];
      const seen = await Promise.all(twice.map((form) => person.browser.post(path, form)));
      expect(seen.map(({ status }) => status).sort()).toEqual([200, 409]);
      expect((await person.browser.post(path)).status).toBe(409);
    }
    const newer = paths((await person.browser.get('/panel/keys')).text);
    expect(former.some((path) => path.includes('tokens'))).toBe(true);
    expect(newer).toHaveLength(former.length);
    expect(newer.filter((path) => former.includes(path))).toEqual([]);
  });

  it('works to the end of its last day in Poland, and its successor no longer', async () => {
    const person = await newPerson(panel, 'owner');
    const day = addDays(polishDay(Date.now()), 3);
    const key = await made(person, { ends: day });
    const id = await idOf(person.account);
    await person.browser.post(`/panel/keys/${id}/rotate`, { grace: 'yes' });
    const ends = await database()<{ at: Date }[]>`
      select expires_at as at from api_keys where account_id = ${person.account} and label = 'Sklep' order by id`;
    const lastMoment = startOfDay(addDays(day, 1));
    expect(ends[1]!.at.getTime()).toBe(lastMoment);
    expect(ends[0]!.at.getTime()).toBeLessThan(lastMoment);
    expect(await statusOf(key)).toBe(200);
  });

  it.each(['2020-01-01', 'morgen', '2026-02-30'])('does not end on %s', async (ends) => {
    const { browser } = await newPerson(panel, 'owner');
    const seen = await browser.post('/panel/keys', { label: 'Sklep', 'scope-read': 'on', ends });
    expect(seen).toMatchObject({ status: 422, text: expect.stringContaining('href="#ends"') as string });
  });

  it('of the earlier interface is made in the same form, and rotated with a day for both', async () => {
    const person = await newPerson(panel, 'developer');
    const token = await made(person, { kind: 'token' });
    expect(token).toMatch(/^goniec_/);
    const listed = (await person.browser.get('/panel/keys')).text;
    const [path] = /\/panel\/tokens\/tok_[0-9a-z]{26}\/rotate/.exec(listed)!;
    const rotated = await person.browser.post(path, { grace: 'yes' });
    const [newer] = /goniec_[0-9a-f]{40}/.exec(rotated.text)!;
    expect(rotated.text).toContain('/v1/sms');
    expect([await statusOf(token, '/v1/balance'), await statusOf(newer, '/v1/balance')]).toEqual([200, 200]);
    await database()`
      update api_tokens set expires_at = now() where account_id = ${person.account} and expires_at is not null`;
    expect(await statusOf(token, '/v1/balance')).toBe(401);
  });

  it('in use is revoked with a warning', async () => {
    const person = await newPerson(panel, 'owner');
    const key = await made(person);
    const warned = async () => (await person.browser.get('/panel/keys')).text.includes('właśnie korzysta');
    expect(await warned()).toBe(false);
    await statusOf(key);
    expect(await warned()).toBe(true);
    await database()`
      update api_keys set last_used_at = now() - interval '61 minutes' where account_id = ${person.account}`;
    expect(await warned()).toBe(false);
  });

  it('of another account is not rotated', async () => {
    const { browser } = await newPerson(panel, 'owner');
    const earlier = await newEarlierAccount();
    for (const path of [`keys/${earlier.keyId}`, `tokens/${earlier.tokenId}`])
      expect((await browser.post(`/panel/${path}/rotate`, { grace: 'yes' })).status).toBe(404);
    expect([await statusOf(earlier.key), await statusOf(earlier.token, '/v1/balance')]).toEqual([200, 200]);
  });
});

describe('settings', () => {
  const form = { send_window: '', inbound_prefix: '', tool_confirm_recipients: '', tool_confirm_grosze: '' };

  it('are changed and cleared, show what is used of each limit, and are recorded', async () => {
    const { browser, account, id } = await newPerson(panel, 'developer');
    const changed = { ...form, send_window: '08:00-20:00', tool_confirm_recipients: '3' };
    expect(await browser.post('/panel/settings/change', changed)).toMatchObject({ to: '/panel/settings' });
    const { text } = await browser.get('/panel/settings');
    for (const shown of ['value="08:00-20:00"', 'value="3"', account, '/mcp', 'Szablony'])
      expect(text).toContain(shown);
    await browser.post('/panel/settings/change', { ...changed, send_window: '' });
    const [stored] = await database()`
      select send_window as window, tool_confirm_recipients as recipients,
             (select count(*)::int from audit_log where account_id = ${account} and actor = ${id}) as acts
        from accounts where id = ${account}`;
    expect(stored).toEqual({ window: null, recipients: 3, acts: 2 });
  });

  it.each([
    [{ send_window: '8-20' }, 'send_window'],
    [{ inbound_prefix: 'STOP' }, 'inbound_prefix'],
    [{ tool_confirm_recipients: '9999' }, 'tool_confirm_recipients'],
    [{ tool_confirm_grosze: '<b>"' }, 'tool_confirm_grosze'],
  ])('%j are refused, as typed', async (wrong, field) => {
    const { browser } = await newPerson(panel, 'owner');
    const seen = await browser.post('/panel/settings/change', { ...form, ...wrong });
    expect(seen).toMatchObject({ status: 422, text: expect.stringContaining(`href="#${field}"`) as string });
    expect(seen.text).not.toContain('<b>"');
  });

  it('are shown without a form to those who only read', async () => {
    const { browser } = await newPerson(panel, 'reader');
    expect((await browser.get('/panel/settings')).text).not.toContain('name="send_window"');
  });
});

describe('reports', () => {
  it('add up as the API does, by what the address says, also as a file', async () => {
    const account = await newAccount({ senders: ['SKLEP'] });
    // Scheduled, so that nothing happens to them between two reports.
    const later = { text: 'x', send_at: new Date(Date.now() + 86_400_000).toISOString() };
    await account.api.accepted({ ...later, to: ['+48500100201', '+48500100202'], from: 'SKLEP' });
    await account.api.accepted({ ...later, to: '+48500100203' });
    const { browser } = await newPerson(panel, 'reader', account.id);
    const period = `from=${polishDay(Date.now())}`;
    const query = `?${period}&group_by=sender&type=sms&country=PL&status=`;
    const { text } = await browser.get(`/panel/reports${query}`);
    expect(rowOf(text, '>SKLEP</th>')).toContain('<td>2</td>');
    expect(text.match(/<rect /g)).toHaveLength(2);
    const file = await browser.get(`/panel/reports${query}&format=csv`);
    const asked = await fetch(`${ours()}/v1/reports?${period}&group_by=sender&type=sms&country=PL`, {
      headers: { authorization: `Bearer ${account.key}`, accept: 'text/csv' },
    });
    expect(file.text).toBe(await asked.text());
    expect(file.headers.get('content-disposition')).toBe(asked.headers.get('content-disposition'));
    const none = await browser.get('/panel/reports?type=mms');
    expect(none.text).toContain('nie ma takich wiadomości');
  });

  it.each([
    ['from=2026-02-30', 'from'],
    ['from=2026-03-02&to=2026-03-01', 'from'],
    ['group_by=x', 'group_by'],
    ['sender=%3Cb%3E%20%20%20%20%20%20%20%20%20x', 'sender'],
  ])('asked for with %s are refused', async (query, field) => {
    const { browser } = await newPerson(panel, 'billing');
    const seen = await browser.get(`/panel/reports?${query}`);
    expect(seen.status).toBe(422);
    expect(seen.text).toContain(`href="#${field}"`);
  });
});
