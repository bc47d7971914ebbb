import { parse } from 'csv-parse/sync';
import { describe, expect, inject, it } from 'vitest';
import { byColumnName } from '../../db/connection.ts';
import type { ApiAnswer } from '../support/client.ts';
import { database, newAccount, type TestAccount } from '../support/factories.ts';

const PATH = '/v1/contacts';
const number = (i: number) => `+48500${String(100_000 + i)}`;

async function table({ api }: TestAccount, query = ''): Promise<string> {
  const answer = await api.get(`${PATH}${query}`, { accept: 'text/csv' });
  expect(answer.status, answer.text).toBe(200);
  return answer.text;
}
const rowsOf = (csv: string): string[][] => parse(csv, { record_delimiter: '\r\n' });
const take = ({ api }: TestAccount, csv: string): Promise<ApiAnswer> =>
  api.post(PATH, csv, { 'content-type': 'text/csv' });

async function storedOf({ id }: TestAccount): Promise<unknown[]> {
  return [
    ...(await database()`
      select c.msisdn, c.first_name, c.last_name, c.email, c.fields,
             array(select g.name from group_members m
                     join contact_groups g on g.account_id = m.account_id and g.id = m.group_id
                    where m.account_id = c.account_id and m.contact_id = c.id order by g.name) as groups
        from contacts c where c.account_id = ${id} order by c.msisdn`),
  ].map(byColumnName);
}

const AWKWARD = [
  '=1+2',
  "'=1+2",
  '-5',
  '-a',
  '@SUM(A1)',
  '\tx',
  '\n=1+2',
  '＝1+2',
  "'zwykły",
  "'00123",
  '="00123"',
  'a,b;c',
  'cudzy "sys\\tem"',
  'dwie\r\nlinie',
  ' spacje ',
  'ż🙂',
];

describe('GET /v1/contacts as text/csv', () => {
  it('is a table with a header: RFC 4180, UTF-8, to be saved as a file', async () => {
    const account = await newAccount();
    await account.api.post(PATH, [
      {
        msisdn: number(1),
        first_name: 'Żaneta',
        email: 'z@example.com',
        groups: ['B', 'A'],
        fields: { miasto: 'Łódź' },
      },
      { msisdn: number(2), last_name: 'Nowak "Nowy"', fields: { Kod: '1,5' } },
    ]);
    const answer = await account.api.get(PATH, { accept: 'text/csv' });
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(answer.headers.get('content-disposition')).toContain('contacts.csv');
    expect(answer.text).toBe(
      'msisdn,first_name,last_name,email,groups,Kod,miasto\r\n' +
        '+48500100001,Żaneta,,z@example.com,A|B,,Łódź\r\n' +
        '+48500100002,,"Nowak ""Nowy""",,,"1,5",\r\n',
    );
  });

  it('an empty book is a header', async () => {
    expect(await table(await newAccount())).toBe('msisdn,first_name,last_name,email,groups\r\n');
  });

  it('holds the whole list over many pages; filters, limit and cursor apply', async () => {
    const account = await newAccount();
    await database()`
      insert into contacts (account_id, id, msisdn, last_name)
      select ${account.id}, 'ct_' || lpad(i::text, 26, '0'), '+48600' || (100000 + i), case when i % 2 = 0 then 'Nowak' end
        from generate_series(1, 2500) i`;
    const group = (await account.api.post('/v1/groups', { name: 'G' })).body.id;
    await account.api.post(`/v1/groups/${group}/contacts`, { msisdns: ['600100001', '600100002'] });
    const all = rowsOf(await table(account)).slice(1);
    expect(all.map(([msisdn]) => msisdn)).toEqual(
      Array.from({ length: 2500 }, (_, i) => `+48600${100_001 + i}`),
    );
    expect(rowsOf(await table(account, '?q=nowak'))).toHaveLength(1251);
    expect(rowsOf(await table(account, `?group_id=${group}`))).toHaveLength(3);
    expect(rowsOf(await table(account, `?group_id=${group}&q=nowak`))).toHaveLength(2);
    expect(rowsOf(await table(account, '?limit=7'))).toHaveLength(8);
    const rest = rowsOf(await table(account, `?cursor=ct_${'2400'.padStart(26, '0')}`));
    expect(rest).toHaveLength(101);
    expect((await account.api.get(`${PATH}?limit=0`, { accept: 'text/csv' })).status).toBe(400);
  });

  it('refuses a table of more than 1000 different custom fields', async () => {
    const account = await newAccount();
    await database()`
      insert into contacts (account_id, id, msisdn, fields)
      select ${account.id}, 'ct_' || lpad(i::text, 26, '0'), '+48600' || (100000 + i), jsonb_build_object('f' || i, 'x')
        from generate_series(1, 1001) i`;
    expect((await account.api.get(PATH, { accept: 'text/csv' })).status).toBe(400);
    expect(rowsOf(await table(account, '?q=600100001'))).toHaveLength(2);
  });

  it('is chosen by Accept alone', async () => {
    const { api } = await newAccount();
    for (const accept of ['*/*', 'application/json', 'application/json, text/csv']) {
      expect((await api.get(PATH, { accept })).body.data).toEqual([]);
    }
  });
});

describe('POST /v1/contacts as text/csv', () => {
  it('answers like the array', async () => {
    const account = await newAccount();
    const { status, body } = await take(
      account,
      'msisdn,first_name,last_name,email,groups,miasto\r\n' +
        '500100001,Żaneta,,z@example.com,A|B,Łódź\r\n' +
        '12,,,,,\r\n' +
        '\r\n' +
        '500100001,,Nowak,,B,\r\n',
    );
    expect(status).toBe(201);
    expect(body).toEqual({
      created: 1,
      updated: 1,
      invalid: [{ index: 1, message: expect.stringMatching(/^Pole „msisdn” musi być numerem/) as string }],
    });
    expect(await storedOf(account)).toEqual([
      { msisdn: number(1), first_name: null, last_name: 'Nowak', email: null, fields: {}, groups: ['B'] },
    ]);
  });

  it('semicolons, a byte order mark, line feeds, any order and case of columns; what has no column stays', async () => {
    const account = await newAccount();
    await account.api.post(PATH, { msisdn: number(1), first_name: 'Jan', groups: ['A'], fields: { a: '1' } });
    const { body } = await take(
      account,
      '\uFEFFMiasto;MSISDN ; Last_Name\n"Łódź, Bałuty";+48500100001;Nowak\n',
    );
    expect(body).toEqual({ created: 0, updated: 1, invalid: [] });
    expect(await storedOf(account)).toEqual([
      {
        msisdn: number(1),
        first_name: 'Jan',
        last_name: 'Nowak',
        email: null,
        fields: { a: '1', Miasto: 'Łódź, Bałuty' },
        groups: ['A'],
      },
    ]);
  });

  it('rows that are too short leave the rest as it is, rows that are too long are invalid', async () => {
    const account = await newAccount();
    await account.api.post(PATH, { msisdn: number(1), first_name: 'Jan', last_name: 'Nowak' });
    const { body } = await take(
      account,
      'msisdn,first_name,last_name\n500100001,Ewa\n500100002,a,b,c\n500100003,a,b,\n',
    );
    expect(body).toMatchObject({ created: 1, updated: 1, invalid: [{ index: 1 }] });
    expect(await storedOf(account)).toMatchObject([
      { first_name: 'Ewa', last_name: 'Nowak' },
      { first_name: 'a' },
    ]);
  });

  // What spreadsheets write; each is the two contacts below.
  it.each([
    ['lines that end in three ways', 'msisdn;imię2;miasto\r\n500100001;Jan;Łódź\n500100002;Ewa;Hel\r'],
    [
      'a header with CRLF over rows with CR',
      'msisdn,imię2,miasto\r\n500100001,Jan,Łódź\r500100002,Ewa,Hel\r',
    ],
    [
      'rows of separators only',
      ';;\nmsisdn;imię2;miasto\n;;\n500100001;Jan;Łódź\n ; ;\n500100002;Ewa;Hel\n;;\n',
    ],
    [
      'a separator that is declared',
      '\uFEFFsep=;\r\nmsisdn;imię2;miasto\r\n500100001;Jan;Łódź\r\n500100002;Ewa;Hel',
    ],
    ['another one, in quotes', '"sep=,"\nmsisdn,imię2,miasto\n500100001,Jan,Łódź\n500100002,Ewa,Hel\n'],
    ['tabs', 'msisdn\timię2\tmiasto\n500100001\tJan\tŁódź\n500100002\tEwa\tHel\n'],
    [
      'formulas of one text',
      'msisdn;imię2;miasto\n="+48500100001";Jan;"=""Łódź"""\n"=""500100002""";Ewa;Hel\n',
    ],
    ['numbers after apostrophes', "msisdn;imię2;miasto\n'500100001;Jan;Łódź\n'+48500100002;Ewa;Hel\n"],
    ['lines that end in CR alone', 'msisdn;imię2;miasto\r500100001;Jan;Łódź\r500100002;Ewa;Hel\r'],
    [
      'a header with LF over rows with CRLF',
      'msisdn,imię2,miasto\n500100001,Jan,Łódź\r\n500100002,Ewa,Hel\r\n',
    ],
    ['CRLF written as CR CR LF', 'msisdn;imię2;miasto\r\r\n500100001;Jan;Łódź\r\r\n500100002;Ewa;Hel\r\r\n'],
    [
      'more commas in its rows than semicolons in its header',
      'msisdn;imię2;miasto;ceny\n500100001;Jan;Łódź;1,5, 2,5, 3,5\n500100002;Ewa;Hel;0,5\n',
    ],
    [
      'quotes around every cell, empty ones too',
      'SEP=;\r\n"";"";""\r\n"msisdn";"imię2";"miasto"\r\n"500100001";"Jan";"Łódź"\r\n"500100002";"Ewa";"Hel"\r\n"";"";""',
    ],
    ['columns without names', 'msisdn;;imię2;miasto;;\n500100001;;Jan;Łódź;;\n500100002; ;Ewa;Hel;;\n'],
    [
      'invisible characters',
      '\uFEFFmsisdn;imię2\u200B;miasto\n500100001\u00A0;Jan\u200B;Łódź\n500100002;Ewa;Hel\u00AD\n',
    ],
  ])('takes %s', async (_, csv) => {
    const account = await newAccount();
    expect((await take(account, csv)).body).toEqual({ created: 2, updated: 0, invalid: [] });
    expect(await storedOf(account)).toMatchObject([
      { msisdn: number(1), fields: { imię2: 'Jan', miasto: 'Łódź' } },
      { msisdn: number(2), fields: { imię2: 'Ewa', miasto: 'Hel' } },
    ]);
  });

  it('quotes that are not doubled are of their cell; each row is taken by itself', async () => {
    const account = await newAccount();
    const csv =
      'msisdn;a;\n500100001;rura 5";\n500100002;"Firma "Ola" sp. z o.o.";\n+48 500;x;\n500100003;"""Ola""\nsp.";\n500100004;y;z\n' +
      '500100005;""NIE" OK";\n500100006;"5" na 7"" ;\n500100007;"Ola" Nowak;\n';
    expect((await take(account, csv)).body).toMatchObject({
      created: 6,
      invalid: [{ index: 2 }, { index: 4 }],
    });
    expect((await storedOf(account)).map((one) => (one as { fields: object }).fields)).toEqual([
      { a: 'rura 5"' },
      { a: 'Firma "Ola" sp. z o.o.' },
      { a: '"Ola"\nsp.' },
      { a: '"NIE" OK' },
      { a: '5" na 7"' },
      { a: '"Ola" Nowak' },
    ]);
  });

  it.each([
    ...[
      '4,85E+10',
      '4.85001E+10',
      '="4,85E+10"',
      '500100001,00',
      '500 100 001',
      'tel. 500100001',
      '5001000O1',
    ],
    ...['500100001\u200B', '\u202A+48500100001\u202C', '48500100001.0', '=500100001'],
  ])(
    'a number that a spreadsheet or a person has written as %j is invalid, the next row is not',
    async (cell) => {
      const account = await newAccount();
      const { body } = await take(account, `msisdn;a\n${cell};x\n500100002;y\n`);
      const message = expect.stringContaining('+48500100200, 48500100200 albo 500100200') as string;
      expect(body).toEqual({ created: 1, updated: 0, invalid: [{ index: 0, message }] });
    },
  );

  it.each([
    ['a quote that is never closed', 'msisdn;a\n500100001;"x\n500100002;y\n', /wiersz.*CSV UTF-8/],
    ['one that the next row closes', 'msisdn;a\n500100001;"x\n500100002;"y"\n', /wiersz.*CSV UTF-8/],
    ['windows-1250', Buffer.from('msisdn;a\n500100001;\xa3\xf3d\x9f\n', 'latin1'), /UTF-8.*CSV UTF-8/],
    ['UTF-16', Buffer.from('\uFEFFmsisdn\n500100001\n', 'utf16le'), /UTF-8.*CSV UTF-8/],
  ])('refuses %s, and says how to save', async (_, csv, message) => {
    const account = await newAccount();
    const response = await fetch(inject('service').apiUrl + PATH, {
      method: 'POST',
      headers: { authorization: `Bearer ${account.key}`, 'content-type': 'text/csv' },
      body: csv,
    });
    expect(await response.json()).toMatchObject({
      error: { code: 'invalid_request', message: expect.stringMatching(message) as string },
    });
    expect(await storedOf(account)).toEqual([]);
  });

  it.each([
    ['no column msisdn', 'first_name\nJan\n', 'msisdn'],
    ['a column twice', 'msisdn,miasto,Miasto\n500100001,a,b\n', undefined],
    ['a column that cannot be a field', 'msisdn,data urodzenia\n500100001,x\n', 'fields'],
    ['an open quote', 'msisdn,a\n500100001,"x\n', undefined],
  ])('%s: 400, nothing is written', async (_, csv, param) => {
    const account = await newAccount();
    const { status, body } = await take(account, csv);
    expect(status).toBe(400);
    expect(body.error.param).toBe(param);
    expect(await storedOf(account)).toEqual([]);
  });

  it('takes 500 rows, not one more; a header alone imports nothing', async () => {
    const account = await newAccount();
    const rows = Array.from({ length: 501 }, (_, i) => number(i));
    expect((await take(account, ['msisdn', ...rows].join('\n'))).status).toBe(400);
    expect((await take(account, ['msisdn', ...rows.slice(1)].join('\n'))).body).toMatchObject({
      created: 500,
    });
    expect((await take(account, 'msisdn\n')).body).toEqual({ created: 0, updated: 0, invalid: [] });
  });

  it('takes back what was exported, in this account and in another one', async () => {
    const account = await newAccount();
    const contacts = AWKWARD.map((value, i) => ({
      msisdn: number(i),
      first_name: value.replace(/[\t\r\n]/g, ' '),
      fields: { wartość: value, groups: value, liczba: i - 3 },
      groups: [`g ${value.replace(/[\t\r\n]/g, ' ')}`, 'a\\|b', '=x', 'msisdn'],
    }));
    const imported = await account.api.post(PATH, contacts);
    expect(imported.body).toEqual({ created: AWKWARD.length, updated: 0, invalid: [] });
    const before = await storedOf(account);
    const csv = await table(account);
    for (const row of rowsOf(csv).slice(1)) {
      for (const cell of row.slice(1)) expect(cell).toMatch(/^(?![=+\-@\t\r])|^-\d$/);
    }
    expect((await take(account, csv)).body).toEqual({ created: 0, updated: AWKWARD.length, invalid: [] });
    expect(await storedOf(account)).toEqual(before);
    const other = await newAccount();
    expect((await take(other, csv)).body).toEqual({ created: AWKWARD.length, updated: 0, invalid: [] });
    expect(await storedOf(other)).toEqual(before);
    expect(await table(other)).toBe(csv);
  });

  it('other types are refused', async () => {
    const { api } = await newAccount();
    const answer = await api.post(PATH, 'msisdn\n500100200\n', { 'content-type': 'text/plain' });
    expect(answer.status).toBe(415);
    expect(answer.body.error.message).toMatch(/application\/json albo text\/csv/);
  });
});
