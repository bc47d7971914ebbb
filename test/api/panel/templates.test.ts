import { afterAll, beforeAll, expect, it, test } from 'vitest';
import { database, newAccount } from '../../support/factories.ts';
import { newPerson, type PanelUnderTest, startPanel } from '../../support/panel.ts';

let panel: PanelUnderTest;
beforeAll(async () => {
  panel = await startPanel();
});
afterAll(() => panel.api.stop());

const TEMPLATES = '/panel/templates';
const NUMBER = '+48500100301';

async function templatesOf(account: string) {
  return [
    ...(await database()`
      select name, type, subject, body from templates where account_id = ${account} order by id`),
  ];
}

test('a template is written, previewed for a contact, changed, copied and deleted', async () => {
  const { browser, account } = await newPerson(panel, 'developer');
  await database()`insert into verified_numbers (account_id, msisdn) values (${account}, ${NUMBER})`;
  await database()`
    insert into contacts (account_id, id, msisdn, first_name)
    values (${account}, ${`ct_${account.slice(3)}`}, ${NUMBER}, '<b>Żaneta</b>')`;
  expect((await browser.get(TEMPLATES)).text).toContain('Nie ma jeszcze żadnego szablonu');
  const form = { name: 'Wizyta <i>', type: 'sms', subject: '', body: 'Dzień dobry {{imie}}!', to: NUMBER };
  const preview = await browser.post(`${TEMPLATES}/new`, { ...form, act: 'preview' });
  expect(preview).toMatchObject({ status: 200 });
  for (const shown of [
    '<pre>Dzień dobry &lt;b>Żaneta&lt;/b>!</pre>',
    '<dd>1</dd>',
    'Znak „ń” (5. w tekście)',
  ])
    expect(preview.text).toContain(shown);
  expect(await templatesOf(account)).toEqual([]);
  const made = await browser.post(`${TEMPLATES}/new`, { ...form, act: 'save' });
  expect(made).toMatchObject({ status: 303, to: expect.stringMatching(/\/tpl_\w{26}\?saved$/) as string });
  const [path = ''] = made.to!.split('?');
  expect((await browser.get(TEMPLATES)).text).toMatch(/Wizyta &lt;i><\/a><\/th><td>SMS<\/td><td>imie<\/td>/);
  const mms = { ...form, type: 'mms', subject: 'Wiosna', body: '<smil/>' };
  expect((await browser.post(path, mms)).status).toBe(303);
  expect((await browser.post(`${path}/copy`)).status).toBe(303);
  const stored = { type: 'mms', subject: 'Wiosna', body: '<smil/>' };
  expect(await templatesOf(account)).toEqual([
    { ...stored, name: 'Wizyta <i>' },
    { ...stored, name: 'Kopia: Wizyta <i>' },
  ]);
  expect(await browser.post(`${path}/delete`)).toMatchObject({ status: 303, to: TEMPLATES });
  expect((await browser.get(path)).status).toBe(404);
});

it.each([
  [{ name: '', body: 'x' }, 'name'],
  [{ name: 'x', body: '' }, 'body'],
  [{ name: 'x', body: 'Dzień dobry {{imię i nazwisko}}' }, 'body'],
  [{ name: 'x', body: 'x'.repeat(10_001) }, 'body'],
  [{ name: 'x', body: 'x', subject: 'x' }, 'subject'],
  [{ name: 'x', body: 'x', type: 'fax' }, 'type'],
  [{ name: 'x', body: 'x', to: '12', act: 'preview' }, 'to'],
  [{ name: 'x', body: '{{', to: NUMBER, act: 'preview' }, 'body'],
] as [Record<string, string>, string][])(
  'the form %j keeps what was typed, with a link',
  async (form, field) => {
    const { browser, account } = await newPerson(panel, 'owner');
    const seen = await browser.post(`${TEMPLATES}/new`, { type: 'sms', ...form });
    expect(seen).toMatchObject({
      status: 422,
      text: expect.stringContaining(`<a href="#${field}">`) as string,
    });
    expect(seen.text).toContain(`>${form['body']!}</textarea>`);
    expect(await templatesOf(account)).toEqual([]);
  },
);

test('others see no template of the account, and a reader changes none', async () => {
  const { browser } = await newPerson(panel, 'owner');
  const other = await newAccount();
  const { id } = (await other.api.post('/v1/templates', { name: 'Cudzy', body: 'x' })).body;
  const path = `${TEMPLATES}/${id}`;
  const form = { name: 'x', type: 'sms', body: 'y' };
  expect((await browser.get(path)).status).toBe(404);
  for (const act of ['', '/copy', '/delete']) expect((await browser.post(path + act, form)).status).toBe(404);
  const reader = await newPerson(panel, 'reader', other.id);
  const shown = (await reader.browser.get(path)).text;
  expect(shown).toContain('<fieldset class="stack" disabled>');
  expect(shown).not.toContain('/delete');
  for (const act of ['', '/copy', '/delete'])
    expect((await reader.browser.post(path + act, form)).status).toBe(403);
  expect(await templatesOf(other.id)).toEqual([{ name: 'Cudzy', type: 'sms', subject: null, body: 'x' }]);
});
