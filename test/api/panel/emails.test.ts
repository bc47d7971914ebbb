import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { newId } from '../../../db/ids.ts';
import { giveDomain, LEAST, newMailAccount, postEmail, untilEmail } from '../../support/email.ts';
import { database } from '../../support/factories.ts';
import { newPerson, type PanelUnderTest, startPanel } from '../../support/panel.ts';

let panel: PanelUnderTest;
beforeAll(async () => {
  panel = await startPanel();
});
afterAll(() => panel.api.stop());

const EMAILS = '/panel/emails';

test('e-mails are listed by status, address and identifier; one shows what became of it', async () => {
  const account = await newMailAccount();
  const { browser } = await newPerson(panel, 'reader', account.id);
  expect((await browser.get(EMAILS)).text).toContain('Nie ma jeszcze żadnego e-maila');
  const sent = await postEmail(account.v1, { ...LEAST, subject: 'Hej <b>', idx: 'zam-1' });
  const { id } = (sent.body as unknown as { data: { id: string } }).data;
  await untilEmail(account, id, ({ status }) => status === 'delivered');
  const path = `${EMAILS}/${id}`;
  for (const query of ['', '?status=delivered&to=&idx=', '?to=jan%40klient.example', '?idx=zam-1'])
    expect((await browser.get(EMAILS + query)).text).toContain(`<a href="${path}">Hej &lt;b></a>`);
  for (const query of ['?status=queued', '?to=anna%40klient.example'])
    expect((await browser.get(EMAILS + query)).text).toContain('Żaden e-mail nie pasuje');
  expect((await browser.get(`${EMAILS}?to=x`)).text).toContain('href="#to"');
  const { text } = await browser.get(path);
  for (const shown of ['Doręczony na wszystkie adresy', 'jan@klient.example', 'zam-1', '<td>wysłany', '0,01'])
    expect(text).toContain(shown);
  const other = await newPerson(panel, 'owner');
  expect((await other.browser.get(path)).status).toBe(404);
  expect((await other.browser.get(`${EMAILS}/x`)).status).toBe(404);
});

describe('the suppression list', () => {
  const LIST = `${EMAILS}/suppressions`;
  const listOf = async (account: string) =>
    [...(await database()`select address from suppressions where account_id = ${account} order by 1`)].map(
      ({ address }) => address as string,
    );

  it('is added to, filtered and shortened', async () => {
    const { browser, account } = await newPerson(panel, 'developer');
    const typed = 'Jan@klient.example\r\n\r\nanna@klient.example; ola@klient.example';
    expect(await browser.post(LIST, { addresses: typed })).toMatchObject({ status: 303, to: LIST });
    expect(await listOf(account)).toEqual(['anna', 'jan', 'ola'].map((name) => `${name}@klient.example`));
    expect((await browser.get(LIST)).text).toMatch(
      /<th scope="row">jan@klient.example<\/th><td>dodany ręcznie/,
    );
    expect((await browser.get(`${LIST}?reason=bounce`)).text).toContain('nie ma żadnego adresu');
    await browser.post(`${LIST}/remove`, { address: 'jan@klient.example' });
    expect(await listOf(account)).toEqual(['anna@klient.example', 'ola@klient.example']);
    expect((await browser.post(`${LIST}/remove`, { address: 'jan@klient.example' })).status).toBe(404);
    for (const addresses of ['', 'x', '<jan@klient.example>'])
      expect(await browser.post(LIST, { addresses })).toMatchObject({
        status: 422,
        text: expect.stringContaining('href="#addresses"') as string,
      });
  });

  it('of another account stays as it is, and a reader changes none', async () => {
    const [mine, theirs] = [await newPerson(panel, 'owner'), await newPerson(panel, 'owner')];
    const address = 'jan@klient.example';
    await theirs.browser.post(LIST, { addresses: address });
    expect((await mine.browser.post(`${LIST}/remove`, { address })).status).toBe(404);
    const reader = await newPerson(panel, 'reader', theirs.account);
    expect((await reader.browser.post(`${LIST}/remove`, { address })).status).toBe(403);
    expect((await reader.browser.post(LIST, { addresses: 'a@klient.example' })).status).toBe(403);
    expect(await listOf(theirs.account)).toEqual([address]);
  });
});

describe('a sender domain', () => {
  const DOMAINS = `${EMAILS}/domains`;
  const domainsOf = async (account: string) => [
    ...(await database()<{ id: string; name: string; default: boolean }[]>`
      select id, name, is_default as default from sender_domains where account_id = ${account} order by id`),
  ];

  it('is added, shows its records, is checked, made the default and removed, with a trace of each', async () => {
    const { browser, account, id: person } = await newPerson(panel, 'developer');
    const name = `${newId('dom').slice(4)}.example`;
    expect(await browser.post(DOMAINS, { name: ` ${name.toUpperCase()} ` })).toMatchObject({ to: DOMAINS });
    const [domain] = await domainsOf(account);
    expect(domain).toMatchObject({ name, default: false });
    const path = `${DOMAINS}/${domain!.id}`;
    expect((await browser.get(DOMAINS)).text).toContain('czeka na rekordy DNS');
    expect((await browser.post(`${path}/check`)).status).toBe(303);
    expect((await browser.post(`${path}/default`)).text).toContain('nie jest zweryfikowana');
    await database()`update sender_domains set confirmed_at = now() where account_id = ${account}`;
    expect((await browser.post(`${path}/default`)).status).toBe(303);
    expect(await domainsOf(account)).toMatchObject([{ default: true }]);
    expect((await browser.get(DOMAINS)).text).toMatch(/zweryfikowana<\/span> <span class="badge">domyślna/);
    expect((await browser.post(`${path}/remove`)).status).toBe(303);
    expect(await domainsOf(account)).toEqual([]);
    const log = await database()`
      select action from audit_log where account_id = ${account} and actor = ${person} order by id`;
    expect(log.map(({ action }) => action as string)).toEqual(
      ['add', 'check', 'default', 'remove'].map((act) => `domains ${act}`),
    );
  });

  it('shows the records that are to be set, to be copied', async () => {
    const { browser, account } = await newPerson(panel, 'reader');
    await giveDomain(account);
    const [domain] = await domainsOf(account);
    const record = {
      type: 'TXT',
      name: 'a.example',
      value: 'v=<b>',
      priority: null,
      purpose: 'spf',
      seen: false,
    };
    await database()`
      update sender_domain_routes set records = ${database().json([record])} where domain_id = ${domain!.id}`;
    const { text } = await browser.get(DOMAINS);
    for (const shown of [
      'a.example</code>',
      'v=&lt;b></code>',
      `data-copy="${domain!.id}-value-0"`,
      '<td>nie</td>',
    ])
      expect(text).toContain(shown);
    expect(text).not.toContain('/check');
  });

  it.each(['', 'x', 'https://sklep.example', 'sklep.example.', '<b>.example', `${'a'.repeat(300)}.example`])(
    'called %j is refused on the page',
    async (name) => {
      const { browser, account } = await newPerson(panel, 'owner');
      const seen = await browser.post(DOMAINS, { name });
      expect(seen).toMatchObject({ status: 422, text: expect.stringContaining('href="#name"') as string });
      expect(await domainsOf(account)).toEqual([]);
    },
  );

  it('is one of ten that people add, and of no other account', async () => {
    const [mine, theirs] = [await newPerson(panel, 'owner'), await newPerson(panel, 'owner')];
    const taken = await giveDomain(theirs.account);
    expect((await mine.browser.post(DOMAINS, { name: taken })).text).toContain('używa już inne konto');
    for (let count = 0; count < 10; count += 1) await giveDomain(mine.account, { isDefault: false });
    const another = `${newId('dom').slice(4)}.example`;
    expect((await mine.browser.post(DOMAINS, { name: another })).text).toContain('najwyżej tyle domen');
    const [domain] = await domainsOf(theirs.account);
    for (const act of ['check', 'default', 'remove'])
      expect((await mine.browser.post(`${DOMAINS}/${domain!.id}/${act}`)).status).toBe(404);
    const reader = await newPerson(panel, 'reader', theirs.account);
    expect((await reader.browser.post(`${DOMAINS}/${domain!.id}/remove`)).status).toBe(403);
    expect((await domainsOf(mine.account)).length).toBe(10);
    expect((await domainsOf(theirs.account)).map(({ name }) => name)).toEqual([taken]);
    await database()`update accounts set status = 'suspended' where id = ${theirs.account}`;
    expect((await theirs.browser.post(`${DOMAINS}/${domain!.id}/remove`)).status).toBe(403);
  });
});
