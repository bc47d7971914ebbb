import { describe, expect, it } from 'vitest';
import { database, newAccount, type TestAccount } from '../support/factories.ts';
import { refusal } from './refusal.ts';

const PATH = '/v1/contacts';
const number = (i: number) => `+48500${String(100_000 + i)}`;

async function all({ api }: TestAccount) {
  const { data } = (await api.get(`${PATH}?limit=200`)).body;
  return data.map(({ msisdn, first_name, fields, groups }) => ({
    msisdn,
    first_name,
    fields,
    groups: groups.map(({ name }) => name),
  }));
}

describe('POST /v1/contacts with an array', () => {
  it('creates and updates: 201 with the counts', async () => {
    const account = await newAccount();
    await account.api.post(PATH, { msisdn: number(1), first_name: 'Jan', fields: { a: '1' }, groups: ['A'] });
    const { status, body } = await account.api.post(PATH, [
      { msisdn: number(1), fields: { b: '2' } },
      { msisdn: number(2), first_name: 'Ewa', groups: ['a', 'B'] },
      { msisdn: number(3), groups: [] },
    ]);
    expect(status).toBe(201);
    expect(body).toEqual({ created: 2, updated: 1, invalid: [] });
    expect(await all(account)).toEqual([
      { msisdn: number(1), first_name: 'Jan', fields: { a: '1', b: '2' }, groups: ['A'] },
      { msisdn: number(2), first_name: 'Ewa', fields: {}, groups: ['A', 'B'] },
      { msisdn: number(3), first_name: null, fields: {}, groups: [] },
    ]);
  });

  it('bad elements are listed with a Polish message and do not stop the others', async () => {
    const account = await newAccount();
    const fields = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`f${i}`, 'x']));
    await account.api.post(PATH, { msisdn: number(9), fields });
    const { status, body } = await account.api.post(PATH, [
      { msisdn: '12' },
      { msisdn: number(1) },
      null,
      'x',
      [{ msisdn: number(8) }],
      { first_name: 'Bez numeru' },
      { msisdn: number(2), email: 'nikt' },
      { msisdn: number(3), nick: 'x' },
      { msisdn: number(4), groups: ['Nowa', 'gr_00000000000000000000000000'] },
      { msisdn: number(9), fields: { jeszcze: 'x' } },
      { msisdn: number(5), fields: { imie: 'x' } },
      { msisdn: number(6), first_name: 'Ala' },
    ]);
    expect(status).toBe(201);
    expect(body).toMatchObject({ created: 2, updated: 0 });
    const invalid = body.invalid as { index: number; message: string }[];
    expect(invalid.map(({ index }) => index)).toEqual([0, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(invalid.map(({ message }) => message)).toEqual([
      'Pole „msisdn” musi być numerem telefonu: +48500100200, 48500100200 albo 500100200, bez spacji.',
      'Kontakt musi być obiektem.',
      'Kontakt musi być obiektem.',
      'Kontakt musi być obiektem.',
      'Brak wymaganego pola „msisdn”.',
      'Pole „email” ma nieprawidłową wartość.',
      'Nieznane pole „nick”.',
      'Nie znaleziono grupy „gr_00000000000000000000000000”.',
      'Kontakt może mieć najwyżej tyle pól własnych: 20.',
      'Nazwa „imie” jest zastrzeżona i nie może być nazwą pola własnego.',
    ]);
    expect((await all(account)).map(({ msisdn }) => msisdn)).toEqual([number(9), number(1), number(6)]);
    // The group that only a bad element named was not created.
    expect((await account.api.get('/v1/groups')).body.data).toEqual([]);
  });

  it('of two elements with one number the later one updates the earlier one', async () => {
    const account = await newAccount();
    const { body } = await account.api.post(PATH, [
      { msisdn: '500100001', first_name: 'Jan', fields: { a: '1', b: '1' }, groups: ['A'] },
      { msisdn: '48500100001', fields: { A: '2' } },
      { msisdn: '+48500100001', fields: { b: null }, groups: ['B', 'b'] },
    ]);
    expect(body).toEqual({ created: 1, updated: 2, invalid: [] });
    expect(await all(account)).toEqual([
      { msisdn: number(1), first_name: 'Jan', fields: { a: '2' }, groups: ['B'] },
    ]);
  });

  it('takes 500, not one more; an empty array imports nothing', async () => {
    const account = await newAccount();
    const contacts = Array.from({ length: 501 }, (_, i) => ({
      msisdn: number(i),
      groups: ['Wszyscy', `g${i % 7}`],
    }));
    expect(await account.api.post(PATH, contacts)).toMatchObject(refusal(400));
    expect((await account.api.post(PATH, contacts.slice(1))).body).toEqual({
      created: 500,
      updated: 0,
      invalid: [],
    });
    expect((await account.api.post(PATH, contacts.slice(1))).body).toEqual({
      created: 0,
      updated: 500,
      invalid: [],
    });
    expect((await account.api.post(PATH, [])).body).toEqual({ created: 0, updated: 0, invalid: [] });
    const { data } = (await account.api.get('/v1/groups')).body;
    expect(data.map(({ members }) => members).reduce((a, b) => a + b)).toBe(1000);
  });

  it('takes the largest import the limits allow', async () => {
    const account = await newAccount();
    const fields = Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => [
        `ł${'a'.repeat(28)}${String(i).padStart(2, '0')}`,
        'ż'.repeat(200),
      ]),
    );
    const contacts = Array.from({ length: 500 }, (_, i) => ({
      msisdn: number(i),
      first_name: 'ą'.repeat(100),
      fields,
    }));
    expect((await account.api.post(PATH, contacts)).body).toMatchObject({ created: 500, invalid: [] });
  });

  it('imports that overlap, in opposite orders, with renumbering and deletion meanwhile: all are answered', async () => {
    const account = await newAccount();
    const contacts = Array.from({ length: 200 }, (_, i) => ({
      msisdn: number(i),
      groups: [`g${i % 5}`, `h${i % 3}`],
    }));
    await account.api.post(PATH, contacts.slice(100));
    const { data } = (await account.api.get(`${PATH}?limit=20`)).body;
    const groups = (await account.api.get('/v1/groups')).body.data;
    const answers = await Promise.all([
      account.api.post(PATH, contacts),
      account.api.post(PATH, [...contacts].reverse()),
      account.api.post(PATH, contacts.slice(50, 150)),
      ...data.slice(0, 5).map(({ id }) => account.api.delete(`${PATH}/${id}`)),
      ...data.slice(5).map(({ id }, i) => account.api.patch(`${PATH}/${id}`, { msisdn: number(20 + i) })),
      ...groups.slice(0, 2).map(({ id }) => account.api.delete(`/v1/groups/${id}`)),
    ]);
    for (const { status } of answers) expect([200, 201, 404, 409]).toContain(status);
    const imported = answers.slice(0, 3).map(({ body }) => body);
    expect(imported.map(({ created, updated }) => created + updated)).toEqual([200, 200, 100]);
    const stored = await database()`select msisdn from contacts where account_id = ${account.id}`;
    expect(new Set(stored.map(({ msisdn }) => String(msisdn))).size).toBe(stored.length);
  });
});
