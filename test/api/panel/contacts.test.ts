import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { database, newAccount } from '../../support/factories.ts';
import {
  type Browser,
  newPerson,
  type PanelUnderTest,
  type Person,
  startPanel,
} from '../../support/panel.ts';

let panel: PanelUnderTest;
beforeAll(async () => {
  panel = await startPanel();
});
afterAll(() => panel.api.stop());

const CONTACTS = '/panel/contacts';
const IMPORT = `${CONTACTS}/import`;
const OURS = { 'sec-fetch-site': 'same-origin' };

/** The account's contacts, in the order of their numbers. */
async function bookOf(account: string) {
  return [
    ...(await database()`
      select c.msisdn, c.first_name as first, c.last_name as last, c.email, c.fields, coalesce(array_agg(g.name order by g.name)
               filter (where g.name is not null), '{}') as groups
        from contacts c left join group_members m on m.contact_id = c.id left join contact_groups g on g.id = m.group_id
       where c.account_id = ${account} group by c.account_id, c.id order by c.msisdn`),
  ];
}

const CONTACT = { first: null, last: null, email: null, fields: {}, groups: [] };

function fileForm(content: string | Uint8Array<ArrayBuffer>, name = 'kontakty.csv'): FormData {
  const body = new FormData();
  body.set('file', new Blob([content], { type: 'text/csv' }), name);
  return body;
}

const upload = (browser: Browser, content: string | Uint8Array<ArrayBuffer>, name?: string) =>
  browser.ask('POST', IMPORT, { headers: OURS, body: fileForm(content, name) });

/** The form of the columns, as the page offers it. */
async function offered(browser: Browser): Promise<Record<string, string>> {
  const { text } = await browser.get(IMPORT);
  const [, id = ''] = /name="import" value="(imp_[0-9a-z]{26})"/.exec(text) ?? [];
  const selects = [...text.matchAll(/<select[^>]*name="(column-\d+)".*?<\/select>/gs)];
  const chosen = selects.map(([select, name]) => [
    name,
    /<option value(?:="(\w*)")? selected/.exec(select)?.[1] ?? '',
  ]);
  const keys = [...text.matchAll(/name="(key-\d+)" value(?:="([^"]*)")?/g)].map(([, name, key = '']) => [
    name,
    key,
  ]);
  return { import: id, ...(Object.fromEntries([...chosen, ...keys]) as Record<string, string>) };
}

/** Imports a file with the columns as they are offered. @returns the page that says what became of it */
async function imported(browser: Browser, content: string | Uint8Array<ArrayBuffer>) {
  expect(await upload(browser, content)).toMatchObject({ status: 303, to: IMPORT });
  expect(await browser.post(`${IMPORT}/columns`, await offered(browser))).toMatchObject({ status: 303 });
  return (await browser.get(IMPORT)).text;
}

const figures = (text: string) =>
  [...text.matchAll(/<dd>([^<]*)<\/dd>/g)].map(([, figure = '']) => Number(figure.replace(/\s/g, '')));

describe('a contact', () => {
  it('is made, found, changed and deleted', async () => {
    const { browser, account } = await newPerson(panel, 'developer');
    expect((await browser.get(CONTACTS)).text).toContain('Nie ma jeszcze żadnego kontaktu');
    const form = {
      msisdn: ' 500100201 ',
      ...{ first_name: 'Żaneta', last_name: '<b>Nowak</b>', email: 'z@example.com' },
      ...{ groups: 'Klienci\r\n\r\n VIP ', new_key: 'miasto', new_value: 'Łódź' },
    };
    const made = await browser.post(`${CONTACTS}/new`, form);
    expect(made).toMatchObject({ status: 303, to: expect.stringMatching(/\/ct_\w{26}\?saved$/) as string });
    const stored = {
      first: 'Żaneta',
      last: '<b>Nowak</b>',
      email: 'z@example.com',
      groups: ['Klienci', 'VIP'],
    };
    expect(await bookOf(account)).toEqual([
      { msisdn: '+48500100201', ...stored, fields: { miasto: 'Łódź' } },
    ]);
    const [path = ''] = made.to!.split('?');
    const card = (await browser.get(path)).text;
    for (const shown of ['Żaneta &lt;b>Nowak&lt;/b>', 'value="Łódź"', 'Klienci\nVIP'])
      expect(card).toContain(shown);
    expect((await browser.get(`${CONTACTS}?q=500+100+201&group_id=`)).text).toContain(path);
    expect((await browser.get(`${CONTACTS}?q=kowalski`)).text).toContain('Żaden kontakt nie pasuje');
    const changed = { ...form, 'fields.miasto': '', first_name: '', groups: '', new_key: '', new_value: '' };
    expect((await browser.post(path, changed)).status).toBe(303);
    expect(await bookOf(account)).toEqual([
      { ...CONTACT, msisdn: '+48500100201', last: '<b>Nowak</b>', email: 'z@example.com' },
    ]);
    expect(await browser.post(`${path}/delete`)).toMatchObject({ status: 303, to: CONTACTS });
    expect((await browser.get(path)).status).toBe(404);
  });

  it.each([
    [{ msisdn: '12' }, 'msisdn'],
    [{ msisdn: '500100201', email: 'x' }, 'email'],
    [{ msisdn: '500100201', first_name: 'x'.repeat(101) }, 'first_name'],
    [{ msisdn: '500100201', new_key: '1a', new_value: 'x' }, 'fields'],
    [{ msisdn: '500100201', new_key: '', new_value: 'x' }, 'fields'],
    [{ msisdn: '500100201', groups: 'x'.repeat(81) }, 'groups'],
  ] as [Record<string, string>, string][])(
    'of %j is refused with a link to its field',
    async (form, field) => {
      const { browser, account } = await newPerson(panel, 'owner');
      const seen = await browser.post(`${CONTACTS}/new`, form);
      expect(seen).toMatchObject({
        status: 422,
        text: expect.stringContaining(`<a href="#${field}">`) as string,
      });
      expect(seen.text).toContain(`id="${field}"`);
      expect(await bookOf(account)).toEqual([]);
    },
  );

  it('is listed in pages, and all or those of a group are exported', async () => {
    const { browser, account } = await newPerson(panel, 'reader');
    await database()`
      insert into contacts (account_id, id, msisdn, last_name)
      select ${account}, 'ct_' || lpad(${account.slice(-10)} || lpad(i::text, 4, '0'), 26, '0'), '+48600100' || (100 + i), '=1+1'
        from generate_series(1, 60) i`;
    const first = (await browser.get(`${CONTACTS}?q=600`)).text;
    const [, next = ''] = /<a href="([^"]+)" rel="next">/.exec(first) ?? [];
    const second = (await browser.get(next.replaceAll('&amp;', '&'))).text;
    const rows = (text: string) => text.match(/<th scope="row">/g)?.length;
    expect([rows(first), rows(second)]).toEqual([50, 10]);
    const file = await browser.get(`${CONTACTS}/export?q=&group_id=`);
    expect(file.headers.get('content-disposition')).toBe('attachment; filename="contacts.csv"');
    expect(file.text.split('\r\n')).toHaveLength(62);
    expect(file.text).toContain("'=1+1");
    expect((await browser.get(`${CONTACTS}?q=${'a+'.repeat(11)}`)).status).toBe(422);
    expect((await browser.get(`${CONTACTS}?group_id=gr_00000000000000000000000000`)).status).toBe(422);
  });
});

test('a group is made, filled, renamed, exported, left and deleted', async () => {
  const { browser, account } = await newPerson(panel, 'owner');
  const groups = `${CONTACTS}/groups`;
  const made = await browser.post(groups, { name: 'Stali <i>' });
  const path = made.to!;
  expect((await browser.post(groups, { name: 'stali <I>' })).status).toBe(422);
  const added = await browser.post(`${path}/add`, { msisdns: '500100201\r\n+48500100202, 12\r\n' });
  expect(added.text).toMatch(/Dodano do grupy: 2.*numery telefonów.*12/s);
  expect((await browser.get(groups)).text).toMatch(/Stali &lt;i><\/a><\/th><td>2<\/td>/);
  expect((await browser.post(path, { name: '' })).text).toContain('href="#name"');
  expect(await browser.post(path, { name: 'VIP' })).toMatchObject({ status: 303, to: path });
  const [, contact = ''] = /name="contact" value="(ct_\w+)"/.exec((await browser.get(path)).text) ?? [];
  expect((await browser.post(`${path}/take-out`, { contact })).status).toBe(303);
  const file = (await browser.get(`${CONTACTS}/export?group_id=${path.split('/').at(-1)}`)).text;
  expect(file).toMatch(/^msisdn,[^\r]*\r\n\+48500100202,,,,VIP\r\n$/);
  expect(await browser.post(`${path}/delete`)).toMatchObject({ status: 303, to: groups });
  expect((await bookOf(account)).map(({ groups: left }) => left as string[])).toEqual([[], []]);
});

describe('an import', () => {
  const LATIN2 = Buffer.from('telefon;imię;nazwisko\r\n500100201;Żaneta;Gęśla\r\n', 'utf8');
  const windows1250 = Uint8Array.from(
    [...LATIN2.toString()].map((letter) => ({ ę: 0xea, Ż: 0xaf, ś: 0x9c })[letter] ?? letter.charCodeAt(0)),
  );
  const ŻANETA = { ...CONTACT, msisdn: '+48500100201', first: 'Żaneta', last: 'Gęśla' };

  it.each([
    ['UTF-8', 'telefon,imię,nazwisko\n500100201,Żaneta,Gęśla\n', ŻANETA],
    ['a mark', '\ufefftelefon;imię;nazwisko\r\n500100201;Żaneta;Gęśla', ŻANETA],
    ['Windows-1250', windows1250, ŻANETA],
    ['a line sep=', 'sep=;\r\nimię;telefon;nazwisko\r\nŻaneta;500100201;Gęśla', ŻANETA],
    ['no header', '500100201;Żaneta\n', { ...CONTACT, msisdn: '+48500100201' }],
    [
      'quotes and custom fields',
      'Telefon,E-mail,Grupa,miasto,Uwagi klienta\n500100201,z@example.com,A|B,"Nowy ""Sącz"", 1",pominięte',
      {
        ...{ ...CONTACT, msisdn: '+48500100201', email: 'z@example.com' },
        ...{ fields: { miasto: 'Nowy "Sącz", 1' }, groups: ['A', 'B'] },
      },
    ],
  ])('takes a file with %s as it is offered', async (_, content, contact) => {
    const { browser, account } = await newPerson(panel, 'owner');
    const result = await imported(browser, content);
    expect(figures(result)).toEqual([1, 0, 0]);
    expect(await bookOf(account)).toEqual([contact]);
  });

  it('shows the first lines, takes columns as somebody says, and each of them once', async () => {
    const { browser, account } = await newPerson(panel, 'owner');
    await upload(browser, 'A;B;C\n500100201;Kraków;x\n', '../<b>plik.csv');
    const page = (await browser.get(IMPORT)).text;
    for (const shown of ['<td>Kraków</td>', ' &lt;b>plik.csv,', '<legend>C</legend>'])
      expect(page).toContain(shown);
    const form = { ...(await offered(browser)), 'column-1': 'field', 'key-1': 'Miasto', 'column-2': '' };
    for (const wrong of [
      { 'column-0': '' },
      { 'column-1': 'msisdn' },
      { 'key-1': '1' },
      { 'key-1': 'imie' },
    ]) {
      const seen = await browser.post(`${IMPORT}/columns`, { ...form, ...wrong });
      expect(seen).toMatchObject({
        status: 422,
        text: expect.stringContaining('href="#column-0"') as string,
      });
    }
    const other = { ...form, import: 'imp_00000000000000000000000000' };
    expect((await browser.post(`${IMPORT}/columns`, other)).status).toBe(303);
    expect(await bookOf(account)).toEqual([]);
    for (const again of [form, { ...form, 'key-1': 'inne' }]) await browser.post(`${IMPORT}/columns`, again);
    expect(await bookOf(account)).toEqual([
      { ...CONTACT, msisdn: '+48500100201', fields: { Miasto: 'Kraków' } },
    ]);
    expect(figures((await browser.get(IMPORT)).text)).toEqual([1, 0, 0]);
  });

  it('tells line, column, value and reason of what it refuses, and gives those lines back as they were', async () => {
    const { browser, account } = await newPerson(panel, 'owner');
    const refused = [
      '12;Jan;jan@example.com;;',
      '500100203;Anna;brak;"=1;\n+48 1";',
      '500100204;Ola;;"<i>";dalej',
      `500100205;Ewa;;${'x'.repeat(201)};`,
    ];
    const lines = ['telefon;imię;e-mail;miasto', '500100201;Adam;;;', ...refused, '500100202;Iza;;;'];
    const result = await imported(browser, lines.join('\n'));
    expect(figures(result)).toEqual([2, 0, 4]);
    const table = [
      ...result.matchAll(/<tr><th scope="row">(\d+)<\/th><td>(.*?)<\/td><td>(.*?)<\/td><td>(.*?)</gs),
    ];
    expect(table.map(([, line, column, value]) => [line, column, value?.slice(0, 20)])).toEqual([
      ['3', 'telefon', '12'],
      ['4', 'e-mail', 'brak'],
      ['6', 'Kolumna 5', 'dalej'],
      ['7', 'miasto', 'x'.repeat(20)],
    ]);
    for (const [, , , , reason = ''] of table) expect(reason).toMatch(/\.$/);
    const file = await browser.get(`${IMPORT}/refused`);
    expect(file.text).toBe(
      'telefon,imię,e-mail,miasto\r\n12,Jan,jan@example.com,,\r\n' +
        `500100203,Anna,brak,"'=1;'\n+48 1",\r\n500100204,Ola,,<i>,dalej\r\n500100205,Ewa,,${'x'.repeat(201)},\r\n`,
    );
    expect(figures(await imported(browser, file.text.replace('12,', '500100206,')))).toEqual([1, 0, 3]);
    expect((await bookOf(account)).map(({ msisdn }) => msisdn as string)).toEqual(
      ['201', '202', '206'].map((end) => `+48500100${end}`),
    );
  });

  it('of many lines is exact, whoever goes on with it at once, and may be stopped', async () => {
    const { browser, account } = await newPerson(panel, 'owner');
    const lines = Array.from({ length: 2_200 }, (_, i) =>
      i % 1_000 === 999 ? 'zły' : `+4860${1_000_000 + i}`,
    );
    await upload(browser, ['telefon', ...lines].join('\n'));
    const form = await offered(browser);
    await Promise.all([
      browser.post(`${IMPORT}/columns`, form),
      browser.post(`${IMPORT}/columns`, form),
      ...Array.from({ length: 3 }, () => browser.post(`${IMPORT}/continue`)),
    ]);
    await finished(browser);
    expect(figures((await browser.get(IMPORT)).text)).toEqual([2_198, 0, 2]);
    expect((await database()`select from contacts where account_id = ${account}`).count).toBe(2_198);
    expect((await browser.get(`${IMPORT}/refused`)).text).toBe(`telefon\r\n${'zły\r\n'.repeat(2)}`);
    await database()`update contact_imports set created = 0, failed = 0 where account_id = ${account}`;
    const half = (await browser.get(IMPORT)).text;
    expect(half).toMatch(/<progress[^>]* max="2200" value="0">/);
    expect((await upload(browser, 'telefon\n500100201')).text).toContain(
      'Inny plik jest właśnie importowany',
    );
    await browser.post(`${IMPORT}/discard`, { import: 'imp_00000000000000000000000000' });
    expect((await browser.get(IMPORT)).text).toContain('<progress');
    await browser.post(`${IMPORT}/discard`, { import: form['import']! });
    expect((await browser.get(IMPORT)).text).toContain('type="file"');
    expect(
      (await database()`select from contact_import_rows where import_id = ${form['import']!}`).count,
    ).toBe(0);
  });

  it('stands where a quota ends it, and goes on afterwards', async () => {
    const { browser, account } = await newPerson(panel, 'owner');
    await database()`update accounts set quotas = '{"contact_bytes": 10}' where id = ${account}`;
    await upload(browser, 'telefon;imię\n500100201;Bardzo długie imię');
    const seen = await browser.post(`${IMPORT}/columns`, await offered(browser));
    expect(seen).toMatchObject({
      status: 422,
      text: expect.stringMatching(/<progress[^>]* value="0">/) as string,
    });
    expect(seen.text).not.toMatch(/hx-trigger="load/);
    await database()`update accounts set quotas = '{}' where id = ${account}`;
    await browser.post(`${IMPORT}/continue`);
    expect(figures((await browser.get(IMPORT)).text)).toEqual([1, 0, 0]);
  });

  /** Continues as the page does. */
  async function finished(browser: Browser): Promise<void> {
    while ((await browser.get(IMPORT)).text.includes('<progress')) await browser.post(`${IMPORT}/continue`);
  }
});

describe('a file', () => {
  it.each([
    ['no file', '', 'Wybierz plik'],
    ['a spreadsheet', 'PK\u0003\u0004\0\0', 'To nie jest plik CSV'],
    ['only a header', 'telefon;imię\n', 'żadnego wiersza'],
    ['blank lines', '\n\n ; ;\n', 'żadnego wiersza'],
    ['a quote that is never closed', 'telefon\n"500100201\n500100202', 'cudzysłów'],
    ['25 columns', `${'a;'.repeat(24)}b\n500100201`, 'za dużo kolumn'],
    ['100,001 lines', `telefon\n${'1\n'.repeat(100_001)}`, 'najwyżej 100000'],
  ])('with %s is refused on the page', async (_, content, sentence) => {
    const { browser } = await newPerson(panel, 'owner');
    const seen = await upload(browser, content);
    expect(seen).toMatchObject({ status: 422, text: expect.stringContaining(sentence) as string });
    expect(seen.text).toContain('href="#file"');
    expect((await browser.get(IMPORT)).text).toContain('Wczytaj plik');
  });

  const PART = 'Content-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n500100201\r\n';
  const TYPE = 'multipart/form-data; boundary=x';
  it.each([
    ['text/csv', '500100201', 415],
    ['application/x-www-form-urlencoded', 'file=500100201', 415],
    ['multipart/form-data', `--x\r\n${PART}--x--`, 400],
    [TYPE, '--x--', 400],
    [TYPE, '', 400],
    [TYPE, `--x\r\n${PART}`, 400],
    [TYPE, `--x\r\n${PART}--x\r\n${PART}--x--`, 400],
    [TYPE, '--x\r\nContent-Disposition: form-data; name="file"\r\n\r\n500100201\r\n--x--', 400],
    [TYPE, `--x\r\n${PART}--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x--`, 400],
    [TYPE, `--x\r\n${'A: b\r\n'.repeat(20_000)}${PART}--x--`, 400],
  ])('sent as %s, number %#, is answered', async (type, body, status) => {
    const { browser } = await newPerson(panel, 'owner');
    const seen = await browser.ask('POST', IMPORT, { body, headers: { ...OURS, 'content-type': type } });
    expect(seen).toMatchObject({ status, text: expect.stringContaining('<html lang="pl">') as string });
  });

  it('larger than 10 MB is refused before it is read', async () => {
    const { browser } = await newPerson(panel, 'owner');
    const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ');
    const headers = { ...OURS, cookie, 'content-type': TYPE, 'content-length': 10 * 1024 * 1024 + 5_000 };
    const sent = request({ host: '127.0.0.1', port: panel.api.port, method: 'POST', path: IMPORT, headers });
    sent.on('error', () => undefined).flushHeaders();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(413);
    sent.destroy();
  });

  it('is neither read nor kept without the right to it', async () => {
    const body = fileForm('500100201');
    const reader = await newPerson(panel, 'reader');
    expect((await reader.browser.ask('POST', IMPORT, { body, headers: OURS })).status).toBe(403);
    const { browser, account } = await newPerson(panel, 'owner');
    expect((await browser.ask('POST', IMPORT, { body })).status).toBe(403);
    await database()`update accounts set status = 'suspended' where id = ${account}`;
    expect((await browser.ask('POST', IMPORT, { body, headers: OURS })).status).toBe(403);
    expect((await database()`select from contact_imports where account_id = ${account}`).count).toBe(0);
  });
});

describe('a book of another account', () => {
  let theirs: Person;
  beforeAll(async () => {
    theirs = await newPerson(panel, 'owner');
    await upload(theirs.browser, '500100201\n500100202');
  });

  it('is out of reach by its ids', async () => {
    const { browser } = await newPerson(panel, 'owner');
    const other = await newAccount();
    const { id } = (await other.api.post('/v1/contacts', { msisdn: '500100201', groups: ['G'] })).body;
    const group = (await other.api.get('/v1/groups')).body.data[0]!.id;
    for (const path of [`${CONTACTS}/${id}`, `${CONTACTS}/groups/${group}`]) {
      expect([path, (await browser.get(path)).status]).toEqual([path, 404]);
      expect([path, (await browser.post(path, { name: 'x', msisdn: '500100203' })).status]).toEqual([
        path,
        404,
      ]);
      expect([path, (await browser.post(`${path}/delete`)).status]).toEqual([path, 404]);
    }
    expect((await browser.post(`${CONTACTS}/groups/${group}/add`, { msisdns: '500100203' })).status).toBe(
      404,
    );
    expect((await browser.post(`${CONTACTS}/groups/${group}/take-out`, { contact: id })).status).toBe(404);
    expect(await bookOf(other.id)).toEqual([{ ...CONTACT, msisdn: '+48500100201', groups: ['G'] }]);
  });

  it('has an import of its own', async () => {
    const { browser, account } = await newPerson(panel, 'owner');
    const form = await offered(theirs.browser);
    await browser.post(`${IMPORT}/columns`, form);
    await browser.post(`${IMPORT}/discard`, form);
    expect((await browser.get(`${IMPORT}/refused`)).to).toBe(IMPORT);
    expect(await offered(theirs.browser)).toEqual(form);
    expect(await bookOf(account)).toEqual([]);
  });
});
