import { describe, expect, it } from 'vitest';
import { database, newAccount, type TestAccount } from '../support/factories.ts';
import { refusal } from './refusal.ts';

const PATH = '/v1/groups';
const UNKNOWN = `${PATH}/gr_00000000000000000000000000`;
const UNKNOWN_CONTACT = 'ct_00000000000000000000000000';

async function created({ api }: TestAccount, name: string): Promise<string> {
  const answer = await api.post(PATH, { name });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.id;
}

async function contact({ api }: TestAccount, msisdn: string, groups: string[] = []): Promise<string> {
  return (await api.post('/v1/contacts', { msisdn, groups })).body.id;
}

async function inGroups({ id }: TestAccount, contacts: string[], groups: number): Promise<void> {
  const rows = await database()<{ id: string }[]>`
    insert into contact_groups (account_id, id, name)
    select ${id}, 'gr_' || lpad(i::text, 26, '0'), 'grupa ' || i from generate_series(1, ${groups}) i
    returning id`;
  await database()`
    insert into group_members (account_id, group_id, contact_id)
    select ${id}, g, c from unnest(${rows.map((row) => row.id)}::text[]) g, unnest(${contacts}::text[]) c`;
}

describe('POST /v1/groups', () => {
  it('answers 201 with the group, its name trimmed', async () => {
    const { api } = await newAccount({ scopes: ['manage'] });
    const { status, body } = await api.post(PATH, { name: ' Stali klienci ' });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^gr_[0-9a-z]{26}$/) as string,
      name: 'Stali klienci',
      members: 0,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
    });
  });

  it('takes 80 characters', async () => {
    const account = await newAccount();
    await created(account, 'ż'.repeat(80));
  });

  it.each(['  ', 'x'.repeat(81), 'GR_x', 'a\nb', 7])('refuses the name %j', async (name) => {
    const { api } = await newAccount();
    expect(await api.post(PATH, { name })).toMatchObject(refusal(400, 'name'));
  });

  it('refuses a body without name, and unknown fields', async () => {
    const { api } = await newAccount();
    expect((await api.post(PATH, {})).body.error.param).toBe('name');
    expect((await api.post(PATH, { name: 'A', members: 3 })).body.error.param).toBe('members');
  });

  it('a name that exists, in whatever case, gives 409 with param name; another account may have it', async () => {
    const account = await newAccount();
    await created(account, 'Żółwie');
    for (const name of ['Żółwie', 'ŻÓŁWIE', ' żółwie ', 'Z\u0307ółwie']) {
      expect(await account.api.post(PATH, { name })).toMatchObject(refusal(409, 'name'));
    }
    await created(account, 'Zolwie');
    await created(await newAccount(), 'Żółwie');
  });

  it('of many at once one is created', async () => {
    const { api } = await newAccount();
    const answers = await Promise.all(
      ['nowa', 'Nowa', 'NOWA', 'nOWA', 'noWA'].map((name) => api.post(PATH, { name })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
    expect((await api.get(PATH)).body.data).toHaveLength(1);
  });
});

describe('GET /v1/groups', () => {
  it('lists all by name in the order of the Polish alphabet, with their numbers of contacts', async () => {
    const account = await newAccount();
    for (const name of ['Zebra', 'ćma', 'Łoś', 'cap', 'Lis', 'dzik', 'Żuk']) await created(account, name);
    await contact(account, '500100200', ['Łoś', 'cap']);
    await contact(account, '500100201', ['Łoś']);
    const { status, body } = await account.api.get(PATH);
    expect(status).toBe(200);
    expect(body.data.map(({ name, members }) => [name, members])).toEqual([
      ['cap', 1],
      ['ćma', 0],
      ['dzik', 0],
      ['Lis', 0],
      ['Łoś', 2],
      ['Zebra', 0],
      ['Żuk', 0],
    ]);
  });

  it('takes no parameters', async () => {
    const { api } = await newAccount();
    expect((await api.get(`${PATH}?limit=1`)).body.error.param).toBe('limit');
  });
});

describe('GET, PATCH and DELETE /v1/groups/{id}', () => {
  it('shows one group', async () => {
    const account = await newAccount();
    const id = await created(account, 'A');
    await contact(account, '500100200', ['a']);
    const { status, body } = await account.api.get(`${PATH}/${id}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, name: 'A', members: 1 });
  });

  it('renames: 200 with id and name; also to the same name in another case', async () => {
    const account = await newAccount();
    const id = await created(account, 'A');
    const { status, body } = await account.api.patch(`${PATH}/${id}`, { name: ' Nowa ' });
    expect(status).toBe(200);
    expect(body).toEqual({ id, name: 'Nowa' });
    expect((await account.api.patch(`${PATH}/${id}`, { name: 'NOWA' })).status).toBe(200);
    expect((await account.api.get(`${PATH}/${id}`)).body.name).toBe('NOWA');
  });

  it('a name of another group gives 409 with param name', async () => {
    const account = await newAccount();
    await created(account, 'Zajęta');
    const id = await created(account, 'A');
    expect(await account.api.patch(`${PATH}/${id}`, { name: 'ZAJĘTA' })).toMatchObject(refusal(409, 'name'));
    expect((await account.api.get(`${PATH}/${id}`)).body.name).toBe('A');
  });

  it('deletes: 200 with the id; contacts stay', async () => {
    const account = await newAccount();
    const id = await created(account, 'A');
    const member = await contact(account, '500100200', ['A', 'B']);
    expect(await account.api.delete(`${PATH}/${id}`)).toMatchObject({ status: 200, body: { deleted: id } });
    const { body } = await account.api.get(`/v1/contacts/${member}`);
    expect(body.groups.map(({ name }) => name)).toEqual(['B']);
    expect((await account.api.delete(`${PATH}/${id}`)).status).toBe(404);
  });

  it('unknown and malformed ids give 404', async () => {
    const { api } = await newAccount();
    for (const path of [UNKNOWN, `${PATH}/x`, `${PATH}/%00`]) {
      expect((await api.get(path)).status).toBe(404);
      expect((await api.patch(path, { name: 'A' })).status).toBe(404);
      expect((await api.delete(path)).status).toBe(404);
      expect((await api.post(`${path}/contacts`, { msisdns: [] })).status).toBe(404);
    }
  });
});

describe('POST /v1/groups/{id}/contacts', () => {
  it('adds by id and by number; unknown numbers become nameless contacts', async () => {
    const account = await newAccount();
    const id = await created(account, 'A');
    const byId = await contact(account, '500100200');
    const byNumber = await contact(account, '500100201');
    const { status, body } = await account.api.post(`${PATH}/${id}/contacts`, {
      contact_ids: [byId, byId],
      msisdns: ['+48500100201', '500100202', '48500100202', '500100200'],
    });
    expect(status).toBe(200);
    expect(body).toEqual({ id, added: 3, invalid: [], members: 3 });
    const { data } = (await account.api.get(`/v1/contacts?group_id=${id}`)).body;
    expect(data.map((one) => one.msisdn)).toEqual(['+48500100200', '+48500100201', '+48500100202']);
    expect(data.slice(0, 2).map((one) => one.id)).toEqual([byId, byNumber]);
    expect(data[2]).toMatchObject({ first_name: null, last_name: null, email: null, fields: {} });
  });

  it('skips ids outside the account, and lists what is malformed', async () => {
    const account = await newAccount();
    const id = await created(account, 'A');
    const foreign = await contact(await newAccount(), '500100200');
    const { body } = await account.api.post(`${PATH}/${id}/contacts`, {
      contact_ids: [foreign, UNKNOWN_CONTACT, 'ct_x', ''],
      msisdns: ['12', '500100201', 'abc\u0000'],
    });
    expect(body).toEqual({
      id,
      added: 1,
      invalid: [foreign, UNKNOWN_CONTACT, 'ct_x', '', '12', 'abc\u0000'],
      members: 1,
    });
  });

  it('takes 500 in all, not one more', async () => {
    const account = await newAccount();
    const id = await created(account, 'A');
    const numbers = Array.from({ length: 499 }, (_, i) => `500${String(100_000 + i)}`);
    const full = { contact_ids: [UNKNOWN_CONTACT], msisdns: numbers };
    expect((await account.api.post(`${PATH}/${id}/contacts`, full)).body).toMatchObject({
      added: 499,
      members: 499,
    });
    const refused = await account.api.post(`${PATH}/${id}/contacts`, {
      contact_ids: [UNKNOWN_CONTACT, UNKNOWN_CONTACT],
      msisdns: numbers,
    });
    expect(refused).toMatchObject(refusal(400, 'msisdns'));
    const ids = await account.api.post(`${PATH}/${id}/contacts`, {
      contact_ids: Array.from({ length: 501 }, () => UNKNOWN_CONTACT),
    });
    expect(ids).toMatchObject(refusal(400, 'contact_ids'));
  });

  it('a contact is in 100 groups at most: beyond that none is added, and the first such contact is named', async () => {
    const account = await newAccount();
    const id = await created(account, 'A');
    const [full, fuller] = [await contact(account, '500100200'), await contact(account, '500100201')];
    await inGroups(account, [full, fuller], 99);
    const last = await created(account, 'ostatnia');
    const path = (group: string) => `${PATH}/${group}/contacts`;
    const both = { contact_ids: [full], msisdns: ['500100201', '500100202'] };
    expect((await account.api.post(path(last), both)).body).toMatchObject({ added: 3, members: 3 });
    // Who is in the group already is added to nothing.
    expect((await account.api.post(path(last), both)).body).toMatchObject({ added: 0, members: 3 });
    const beyond = [
      [{ contact_ids: [UNKNOWN_CONTACT, full], msisdns: ['500100203'] }, 'contact_ids', 1, full],
      [{ msisdns: ['500100203', '500100202', '500 100', '48500100201'] }, 'msisdns', 1, '48500100201'],
      [{ contact_ids: [fuller, full, full] }, 'contact_ids', 2, fuller],
      [both, 'contact_ids', 2, full],
    ] as const;
    for (const [body, param, contacts, first] of beyond) {
      const answer = await account.api.post(path(id), body);
      expect(answer).toMatchObject(refusal(400, param));
      const { message } = answer.body.error;
      expect(message).toContain(`tylu grupach: 100.`);
      expect(message).toContain(`w tylu: ${contacts}, pierwszy to „${first}”`);
    }
    expect((await account.api.get(`${PATH}/${id}`)).body.members).toBe(0);
    expect((await account.api.get('/v1/contacts?q=500100203')).body.data).toEqual([]);
    await account.api.delete(`${path(last)}/${full}`);
    expect((await account.api.post(path(id), { contact_ids: [full] })).body).toMatchObject({ added: 1 });
  });

  it('of many at once that would be a contact’s hundredth group one is', async () => {
    const account = await newAccount();
    const member = await contact(account, '500100200');
    await inGroups(account, [member], 99);
    const groups = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => created(account, name)));
    const answers = await Promise.all(
      groups.map((id) => account.api.post(`${PATH}/${id}/contacts`, { msisdns: ['500100200'] })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400]);
    expect((await account.api.get(`/v1/contacts/${member}`)).body.groups).toHaveLength(100);
  });

  it.each([
    ['contact_ids', {}],
    ['contact_ids', { contact_ids: 'ct_x' }],
    ['msisdns', { msisdns: ['5'.repeat(101)] }],
    ['ids', { ids: [] }],
  ])('a bad %s gives 400: %j', async (param, body) => {
    const account = await newAccount();
    const id = await created(account, 'A');
    const answer = await account.api.post(`${PATH}/${id}/contacts`, body);
    expect(answer).toMatchObject(refusal(400, param));
  });

  it('a group deleted meanwhile is gone with its memberships, and later requests get 404', async () => {
    const account = await newAccount();
    for (let round = 0; round < 5; round += 1) {
      const id = await created(account, 'A');
      const adding = Array.from({ length: 6 }, (_, i) =>
        account.api.post(`${PATH}/${id}/contacts`, { msisdns: [`50010020${i}`, `50010030${i}`] }),
      );
      const [deleted, ...added] = await Promise.all([account.api.delete(`${PATH}/${id}`), ...adding]);
      expect(deleted.status).toBe(200);
      for (const { status } of added) expect([200, 404]).toContain(status);
      expect(await database()`select from group_members where account_id = ${account.id}`).toHaveLength(0);
    }
  });
});

describe('DELETE /v1/groups/{id}/contacts/{contactId}', () => {
  it('takes the contact out: 200; 404 when it is not in it, or the group is not there', async () => {
    const account = await newAccount();
    const id = await created(account, 'A');
    const member = await contact(account, '500100200', ['A']);
    const path = `${PATH}/${id}/contacts/${member}`;
    expect(await account.api.delete(path)).toMatchObject({ status: 200, body: { removed: member } });
    expect((await account.api.get(`/v1/contacts/${member}`)).body.groups).toEqual([]);
    expect((await account.api.delete(path)).status).toBe(404);
    for (const other of [`${UNKNOWN}/contacts/${member}`, `${PATH}/${id}/contacts/${UNKNOWN_CONTACT}`]) {
      expect((await account.api.delete(other)).status).toBe(404);
    }
    expect((await account.api.delete(`${PATH}/${id}/contacts/x`)).status).toBe(404);
  });
});
