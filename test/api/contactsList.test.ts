import { describe, expect, it } from 'vitest';
import { database, newAccount, type TestAccount } from '../support/factories.ts';
import { refusal } from './refusal.ts';

const PATH = '/v1/contacts';
const number = (i: number) => `+48500${String(100_000 + i)}`;

async function add({ api }: TestAccount, from: number, count: number, more: object = {}): Promise<void> {
  const contacts = Array.from({ length: count }, (_, i) => ({ msisdn: number(from + i), ...more }));
  const { body } = await api.post(PATH, contacts);
  expect(body).toMatchObject({ created: count, invalid: [] });
}

async function idsOf({ id }: TestAccount): Promise<string[]> {
  const rows = await database()`select id from contacts where account_id = ${id} order by id`;
  return rows.map((row) => String(row['id']));
}

/** The numbers that a query finds, without the prefix they share. */
async function found({ api }: TestAccount, query: string): Promise<string[]> {
  const answer = await api.get(`${PATH}?limit=200&${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.data.map(({ msisdn }) => msisdn);
}
const search = (account: TestAccount, q: string) => found(account, `q=${encodeURIComponent(q)}`);

describe('GET /v1/contacts', () => {
  it('pages by id, 50 by default; the cursor is the last id of the page and null on the last one', async () => {
    const account = await newAccount();
    // Against the order of their numbers.
    const contacts = Array.from({ length: 120 }, (_, i) => ({ msisdn: number(119 - i) }));
    expect((await account.api.post(PATH, contacts)).body).toMatchObject({ created: 120 });
    const ids = await idsOf(account);
    const first = (await account.api.get(PATH)).body;
    expect(first.data.map(({ id }) => id)).toEqual(ids.slice(0, 50));
    expect(first.next_cursor).toBe(ids[49]);
    const second = (await account.api.get(`${PATH}?limit=70&cursor=${first.next_cursor}`)).body;
    expect(second.data.map(({ id }) => id)).toEqual(ids.slice(50));
    expect(second.next_cursor).toBeNull();
    const after = (await account.api.get(`${PATH}?cursor=${ids.at(-1)}`)).body;
    expect(after).toEqual({ data: [], next_cursor: null });
  });

  it('shows whole contacts with their groups by name', async () => {
    const account = await newAccount();
    const { body } = await account.api.post(PATH, { msisdn: '500100200', groups: ['Żaby', 'ćmy', 'Zebry'] });
    const { data } = (await account.api.get(PATH)).body;
    expect(data).toEqual([body]);
    expect(data[0]!.groups.map(({ name }) => name)).toEqual(['ćmy', 'Zebry', 'Żaby']);
  });

  it.each([
    ['limit', 'limit=0'],
    ['cursor', 'cursor=x'],
    ['cursor', 'cursor=gr_00000000000000000000000000'],
    ['q', 'q=a%0Ab'],
    ['q', `q=${'x'.repeat(255)}`],
    ['order', 'order=name'],
  ])('a bad %s gives 400: %s', async (param, query) => {
    const { api } = await newAccount();
    expect(await api.get(`${PATH}?${query}`)).toMatchObject(refusal(400, param));
  });
});

describe('GET /v1/contacts?q', () => {
  it('finds fragments of number, names and email, whatever the length', async () => {
    const account = await newAccount();
    await account.api.post(PATH, [
      { msisdn: '500100201', first_name: 'Żaneta', last_name: 'Gęślą-Jaźń', email: 'z.j@Example.com' },
      { msisdn: '500100202', first_name: 'Jan', last_name: "O'Neil" },
      { msisdn: '+4915112345678', first_name: 'Straße' },
    ]);
    const [zaneta, jan, strasse] = ['+48500100201', '+48500100202', '+4915112345678'];
    expect(await search(account, 'ż')).toEqual([zaneta]);
    expect(await search(account, 'ZAN')).toEqual([zaneta]);
    expect(await search(account, 'geslą')).toEqual([zaneta]);
    expect(await search(account, 'GĘŚLĄ-JAŹŃ')).toEqual([zaneta]);
    expect(await search(account, 'Z\u0307aneta')).toEqual([zaneta]);
    expect(await search(account, '@example')).toEqual([zaneta]);
    expect(await search(account, 'an')).toEqual([zaneta, jan]);
    expect(await search(account, "o'n")).toEqual([jan]);
    expect(await search(account, 'strasse')).toEqual([strasse]);
    expect(await search(account, '202')).toEqual([jan]);
    expect(await search(account, '+4850')).toEqual([zaneta, jan]);
    expect(await search(account, '5')).toEqual([zaneta, jan, strasse]);
    expect(await search(account, 'nikt')).toEqual([]);
  });

  it('numbers may be written with spaces and hyphens, the plus not encoded', async () => {
    const account = await newAccount();
    await add(account, 0, 1);
    for (const q of ['500 100', '+48 500-100-000', '(500) 100', '0 0 0']) {
      expect(await search(account, q)).toEqual([number(0)]);
    }
    expect(await found(account, 'q=+48500')).toEqual([number(0)]);
    expect(await search(account, '501 100')).toEqual([]);
  });

  it('%, _ and \\ stand for themselves', async () => {
    const account = await newAccount();
    await account.api.post(PATH, [
      { msisdn: number(1), last_name: '100%' },
      { msisdn: number(2), last_name: 'a_b' },
      { msisdn: number(3), last_name: 'c\\d' },
      { msisdn: number(4), last_name: 'axb 1000' },
    ]);
    expect(await search(account, '%')).toEqual([number(1)]);
    expect(await search(account, '100%')).toEqual([number(1)]);
    expect(await search(account, '_')).toEqual([number(2)]);
    expect(await search(account, '\\')).toEqual([number(3)]);
    expect(await search(account, '\\\\')).toEqual([]);
  });

  it('a word is not found across two columns, nor in what is not searched', async () => {
    const account = await newAccount();
    await add(account, 0, 1, { first_name: 'Jan', last_name: 'Nowak', fields: { miasto: 'Opole' } });
    for (const q of ['JanNowak', 'nNo', '00Jan', 'Opole', 'miasto', 'Jan Opole']) {
      expect(await search(account, q)).toEqual([]);
    }
  });

  it('several words: each is found somewhere, in any order, in parts, whatever case and diacritics', async () => {
    const account = await newAccount();
    await account.api.post(PATH, [
      { msisdn: number(1), first_name: 'Jan', last_name: 'Kowalski', email: 'jan@firma.pl' },
      { msisdn: number(2), first_name: 'Janina', last_name: 'Kowalska' },
      { msisdn: number(3), first_name: 'Łucja', last_name: 'Żak-Kowalska' },
      { msisdn: number(4), first_name: 'Kowalski', last_name: 'Jan Maria' },
      { msisdn: number(5), first_name: 'Jan', last_name: 'Nowak 500 7' },
    ]);
    const [one, two, three, four, five] = [1, 2, 3, 4, 5].map(number);
    expect(await search(account, 'Jan Kowalski')).toEqual([one, four]);
    expect(await search(account, 'Kowalski Jan')).toEqual([one, four]);
    expect(await search(account, 'Kowalski, Jan')).toEqual([one, four]);
    expect(await search(account, '  kowalski\u00a0  JAN ')).toEqual([one, four]);
    expect(await search(account, 'jan kowalsk')).toEqual([one, two, four]);
    expect(await search(account, 'zak lucja')).toEqual([three]);
    expect(await search(account, 'jan mar')).toEqual([four]);
    expect(await search(account, 'maria kowalski jan')).toEqual([four]);
    expect(await search(account, 'jan firma')).toEqual([one]);
    expect(await search(account, 'jan +48 500 100 005')).toEqual([five]);
    expect(await search(account, 'nowak 500 7')).toEqual([five]);
    expect(await search(account, 'jan nikt')).toEqual([]);
    expect(await search(account, 'jan %')).toEqual([]);
    // Digits side by side are one number and not several fragments of it.
    expect(await search(account, '100 500')).toEqual([]);
  });

  it('takes ten words, not eleven; what stands side by side as one number counts once', async () => {
    const account = await newAccount();
    await add(account, 0, 1, { first_name: 'a b c d e', last_name: 'f g h i j k' });
    expect(await search(account, 'a b c d e f g h i j')).toEqual([number(0)]);
    expect(await search(account, 'a b c d e f g h i 5 0 0 1 0 0')).toEqual([number(0)]);
    expect(await account.api.get(`${PATH}?q=${encodeURIComponent('a b c d e f g h i j k')}`)).toMatchObject({
      status: 400,
      body: {
        error: { code: 'invalid_request', param: 'q', message: expect.stringContaining('10') as string },
      },
    });
  });

  it('pages, also together with a group', async () => {
    const account = await newAccount();
    await add(account, 0, 30, { last_name: 'Mazur', groups: ['G'] });
    await add(account, 100, 30, { last_name: 'Mazur' });
    await add(account, 200, 30, { last_name: 'Nowak', groups: ['G'] });
    const group = (await account.api.get('/v1/groups')).body.data[0]!.id;
    const seen: string[] = [];
    for (let cursor = ''; ;) {
      const { body } = await account.api.get(`${PATH}?q=mazur&group_id=${group}&limit=7${cursor}`);
      seen.push(...body.data.map(({ msisdn }) => msisdn));
      if (body.next_cursor === null) break;
      cursor = `&cursor=${body.next_cursor}`;
    }
    expect(seen).toEqual(Array.from({ length: 30 }, (_, i) => number(i)));
    expect(await found(account, 'q=mazur')).toHaveLength(60);
  });
});

describe('GET /v1/contacts?group_id', () => {
  it('shows the members; 404 with param group_id for a group that is not there', async () => {
    const account = await newAccount();
    await add(account, 0, 3, { groups: ['A'] });
    await add(account, 10, 3, { groups: ['B'] });
    const [a] = (await account.api.get('/v1/groups')).body.data;
    expect(await found(account, `group_id=${a!.id}`)).toEqual([number(0), number(1), number(2)]);
    for (const id of ['gr_00000000000000000000000000', 'x', '', '%00']) {
      expect(await account.api.get(`${PATH}?group_id=${id}`)).toMatchObject(refusal(404, 'group_id'));
    }
  });
});
