import { describe, expect, it } from 'vitest';
import type { ApiAnswer } from '../support/client.ts';
import { database, newAccount, type TestAccount } from '../support/factories.ts';
import { refusal } from './refusal.ts';

const PATH = '/v1/contacts';
const UNKNOWN = `${PATH}/ct_00000000000000000000000000`;
const UNKNOWN_GROUP = 'gr_00000000000000000000000000';
const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;

async function created({ api }: TestAccount, content: object = {}): Promise<ApiAnswer['body']> {
  const answer = await api.post(PATH, { msisdn: '500100200', ...content });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

async function storedOf({ id }: TestAccount): Promise<unknown[]> {
  const sql = database();
  return [
    [...(await sql`select * from contacts where account_id = ${id} order by id`)],
    [...(await sql`select * from contact_groups where account_id = ${id} order by id`)],
    [...(await sql`select * from group_members where account_id = ${id} order by group_id, contact_id`)],
  ];
}

const many = (count: number, prefix = 'f') =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${prefix}${i}`, String(i)]));

describe('POST /v1/contacts with one object', () => {
  it('creates: 201 with the whole contact, the number in E.164', async () => {
    const { api } = await newAccount({ scopes: ['manage'] });
    const { status, body } = await api.post(PATH, {
      msisdn: '500100200',
      first_name: ' Żaneta ',
      last_name: 'Kowalska-Nowak',
      email: 'zaneta@example.com',
      fields: { Miasto: 'Łódź', _kod2: 12.5 },
      groups: ['Klienci', 'VIP'],
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^ct_[0-9a-z]{26}$/) as string,
      msisdn: '+48500100200',
      first_name: 'Żaneta',
      last_name: 'Kowalska-Nowak',
      email: 'zaneta@example.com',
      fields: { Miasto: 'Łódź', _kod2: '12.5' },
      groups: [
        { id: expect.stringMatching(/^gr_[0-9a-z]{26}$/) as string, name: 'Klienci' },
        { id: expect.stringMatching(/^gr_[0-9a-z]{26}$/) as string, name: 'VIP' },
      ],
      created_at: INSTANT,
      updated_at: INSTANT,
    });
  });

  it('a number alone makes a nameless contact', async () => {
    expect(await created(await newAccount())).toMatchObject({
      first_name: null,
      last_name: null,
      email: null,
      fields: {},
      groups: [],
    });
  });

  it('updates the contact of the number, in whatever form: 200, given fields overwrite, omitted ones stay', async () => {
    const account = await newAccount();
    const first = await created(account, {
      first_name: 'Jan',
      last_name: 'Nowak',
      email: 'jan@example.com',
      fields: { a: '1', b: '2' },
      groups: ['Stali'],
    });
    for (const msisdn of ['+48500100200', '48500100200', '500100200']) {
      const { status, body } = await account.api.post(PATH, {
        msisdn,
        first_name: 'Anna',
        fields: { b: '3' },
      });
      expect(status).toBe(200);
      expect(body).toEqual({ ...first, first_name: 'Anna', fields: { a: '1', b: '3' }, updated_at: INSTANT });
      expect(Date.parse(body.updated_at)).toBeGreaterThan(Date.parse(first.updated_at));
    }
  });

  it('groups replaces the assignments; names are compared without case, ids are taken too', async () => {
    const account = await newAccount();
    const { groups } = await created(account, { groups: ['Żółwie', 'Stali'] });
    const stali = groups.find(({ name }) => name === 'Stali')!;
    const { body } = await account.api.post(PATH, {
      msisdn: '500100200',
      groups: ['ŻÓŁWIE', 'żółwie', stali.id, 'Nowi'],
    });
    expect(body.groups.map(({ name }) => name)).toEqual(['Nowi', 'Stali', 'Żółwie']);
    expect(body.groups).toEqual(expect.arrayContaining(groups));
    expect(
      (await account.api.post(PATH, { msisdn: '500100200', groups: ['Nowi'] })).body.groups,
    ).toHaveLength(1);
    expect((await account.api.post(PATH, { msisdn: '500100200', groups: [] })).body.groups).toEqual([]);
    expect((await account.api.get('/v1/groups')).body.data).toHaveLength(3);
  });

  it('an unknown group id gives 404 with param groups, and nothing is written', async () => {
    const account = await newAccount();
    await created(account, { groups: ['A'] });
    const other = (await created(await newAccount(), { groups: ['Obca'] })).groups[0]!.id;
    const before = await storedOf(account);
    for (const group of [UNKNOWN_GROUP, other, 'gr_', 'GR_x']) {
      for (const msisdn of ['500100200', '500100201']) {
        const answer = await account.api.post(PATH, { msisdn, first_name: 'X', groups: ['B', group] });
        expect(answer).toMatchObject(refusal(404, 'groups'));
      }
    }
    expect(await storedOf(account)).toEqual(before);
  });

  it.each([
    ['msisdn', {}],
    ['msisdn', { msisdn: '12345' }],
    ['first_name', { msisdn: '500100200', first_name: 'x'.repeat(101) }],
    ['last_name', { msisdn: '500100200', last_name: 7 }],
    ['last_name', { msisdn: '500100200', last_name: 'a\nb' }],
    ['email', { msisdn: '500100200', email: 'nikt' }],
    ['fields', { msisdn: '500100200', fields: [] }],
    ['fields', { msisdn: '500100200', fields: { '1a': 'x' } }],
    ['fields', { msisdn: '500100200', fields: { [`a${'b'.repeat(31)}`]: 'x' } }],
    ['fields', { msisdn: '500100200', fields: { a: true } }],
    ['fields', { msisdn: '500100200', fields: { a: 'x'.repeat(201) } }],
    ['fields', { msisdn: '500100200', fields: { a: '1', A: '2' } }],
    ['fields', { msisdn: '500100200', fields: many(21) }],
    ['groups', { msisdn: '500100200', groups: 'VIP' }],
    ['groups', { msisdn: '500100200', groups: [''] }],
    ['groups', { msisdn: '500100200', groups: ['x'.repeat(81)] }],
    ['groups', { msisdn: '500100200', groups: Array.from({ length: 101 }, (_, i) => `g${i}`) }],
    ['nick', { msisdn: '500100200', nick: 'x' }],
  ])('a bad %s gives 400 naming it: %j', async (param, body) => {
    const account = await newAccount();
    const answer = await account.api.post(PATH, body);
    expect(answer).toMatchObject(refusal(400, param));
    expect(await storedOf(account)).toEqual([[], [], []]);
  });

  it.each(['7', '"x"', 'null', 'true'])('a body that is no object or array gives 400: %s', async (body) => {
    const { api } = await newAccount();
    expect((await api.post(PATH, body)).status).toBe(400);
  });

  it('takes what the limits allow: 20 fields, keys of 31 and values of 200 characters, names of 100', async () => {
    const account = await newAccount();
    const fields = { ...many(17), constructor: 'c', [`ł${'a'.repeat(30)}`]: 'ż'.repeat(200), _: '' + 0 };
    const body = await created(account, { first_name: 'ą'.repeat(100), fields });
    expect(body.fields).toEqual(fields);
    expect((await account.api.get(`${PATH}/${body.id}`)).body.fields).toEqual(fields);
  });

  it('the limit of 20 holds for the merged fields; changing and removing is always possible', async () => {
    const account = await newAccount();
    await created(account, { fields: many(20) });
    const before = await storedOf(account);
    const tooMany = await account.api.post(PATH, { msisdn: '500100200', fields: { nowe: 'x' } });
    expect(tooMany).toMatchObject(refusal(400, 'fields'));
    expect(await storedOf(account)).toEqual(before);
    const swapped = await account.api.post(PATH, {
      msisdn: '500100200',
      fields: { nowe: 'x', f0: '', F1: '!' },
    });
    expect(swapped.status).toBe(200);
    expect(swapped.body.fields).toEqual({ ...many(20), f0: undefined, f1: '!', nowe: 'x' });
  });

  it('two at once create one contact: one 201, the others 200', async () => {
    const account = await newAccount();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        account.api.post(PATH, { msisdn: '500100200', fields: { [`f${i}`]: 'x' }, groups: ['Nowa'] }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 201]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    const { body } = await account.api.get(`${PATH}/${answers[0]!.body.id}`);
    expect(Object.keys(body.fields)).toHaveLength(8);
    expect((await account.api.get('/v1/groups')).body.data).toMatchObject([{ name: 'Nowa', members: 1 }]);
  });
});

describe('GET /v1/contacts/{id}', () => {
  it('answers 200 with what was stored, 404 for unknown and malformed ids', async () => {
    const account = await newAccount();
    const contact = await created(account, { groups: ['A'] });
    expect(await account.api.get(`${PATH}/${contact.id}`)).toMatchObject({ status: 200, body: contact });
    for (const path of [UNKNOWN, `${PATH}/x`, `${PATH}/%00`, `${PATH}/${contact.id}x`]) {
      expect((await account.api.get(path)).status).toBe(404);
    }
  });
});

describe('PATCH /v1/contacts/{id}', () => {
  const full = {
    first_name: 'Jan',
    last_name: 'Nowak',
    email: 'jan@example.com',
    fields: { Miasto: 'Łódź', b: '2' },
    groups: ['A', 'B'],
  };

  it('changes what is given, and nothing else', async () => {
    const account = await newAccount();
    const contact = await created(account, full);
    const { status, body } = await account.api.patch(`${PATH}/${contact.id}`, { last_name: 'Kowal' });
    expect(status).toBe(200);
    expect(body).toEqual({ ...contact, last_name: 'Kowal', updated_at: INSTANT });
    expect((await account.api.patch(`${PATH}/${contact.id}`, {})).body).toEqual(body);
  });

  it.each([null, ''])('%j clears a field', async (nothing) => {
    const account = await newAccount();
    const contact = await created(account, full);
    const cleared = { first_name: nothing, last_name: nothing, email: nothing, fields: { miasto: nothing } };
    const { body } = await account.api.patch(`${PATH}/${contact.id}`, cleared);
    expect(body).toMatchObject({ first_name: null, last_name: null, email: null, groups: contact.groups });
    expect(body.fields).toEqual({ b: '2' });
  });

  it('null removes all custom fields, and all groups; an empty list of groups too', async () => {
    const account = await newAccount();
    const contact = await created(account, full);
    expect((await account.api.patch(`${PATH}/${contact.id}`, { fields: null })).body.fields).toEqual({});
    expect((await account.api.patch(`${PATH}/${contact.id}`, { groups: null })).body.groups).toEqual([]);
    const named = async (groups: string[]) =>
      (await account.api.patch(`${PATH}/${contact.id}`, { groups })).body.groups.map(({ name }) => name);
    expect(await named(['A'])).toEqual(['A']);
    expect(await named(['b', 'C'])).toEqual(['B', 'C']);
    expect(await named([])).toEqual([]);
  });

  it('changes the number; one of another contact gives 409 with param msisdn', async () => {
    const account = await newAccount();
    const contact = await created(account, { ...full, msisdn: '500100201' });
    await created(account);
    const taken = await account.api.patch(`${PATH}/${contact.id}`, { msisdn: '500100200', first_name: 'X' });
    expect(taken).toMatchObject(refusal(409, 'msisdn'));
    expect((await account.api.get(`${PATH}/${contact.id}`)).body).toEqual(contact);
    const moved = await account.api.patch(`${PATH}/${contact.id}`, { msisdn: '500100299', last_name: 'Y' });
    expect(moved.body).toEqual({ ...contact, msisdn: '+48500100299', last_name: 'Y', updated_at: INSTANT });
    expect((await account.api.patch(`${PATH}/${contact.id}`, { msisdn: '+48500100299' })).status).toBe(200);
  });

  it('a refused part refuses the whole', async () => {
    const account = await newAccount();
    const contact = await created(account, { fields: many(20) });
    const before = await storedOf(account);
    for (const bad of [{ fields: { nowe: 'x' } }, { groups: ['C', UNKNOWN_GROUP] }, { msisdn: null }]) {
      const answer = await account.api.patch(`${PATH}/${contact.id}`, {
        msisdn: '500100299',
        email: '',
        ...bad,
      });
      expect([400, 404]).toContain(answer.status);
      expect(answer.body.error.param).toBe(Object.keys(bad)[0]);
    }
    expect(await storedOf(account)).toEqual(before);
  });

  it('two contacts that ask for one number at once: one gets it', async () => {
    const account = await newAccount();
    const ids = [(await created(account)).id, (await created(account, { msisdn: '500100201' })).id];
    const answers = await Promise.all(
      ids.map((id) => account.api.patch(`${PATH}/${id}`, { msisdn: '500100299' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  it('unknown and malformed ids give 404', async () => {
    const { api } = await newAccount();
    expect((await api.patch(UNKNOWN, { first_name: 'x' })).status).toBe(404);
    expect((await api.patch(`${PATH}/x`, { first_name: 'x' })).status).toBe(404);
  });
});

describe('DELETE /v1/contacts/{id}', () => {
  it('removes the contact and its memberships, and does not put the number on the blacklist', async () => {
    const account = await newAccount();
    const { id, groups } = await created(account, { groups: ['A'] });
    expect(await account.api.delete(`${PATH}/${id}`)).toMatchObject({ status: 200, body: { deleted: id } });
    expect((await account.api.get(`${PATH}/${id}`)).status).toBe(404);
    expect((await account.api.get(`/v1/groups/${groups[0]!.id}`)).body.members).toBe(0);
    expect(await database()`select from blacklist where account_id = ${account.id}`).toHaveLength(0);
    expect((await account.api.delete(`${PATH}/${id}`)).status).toBe(404);
    expect((await account.api.delete(`${PATH}/x`)).status).toBe(404);
    await created(account);
  });
});
