import { describe, expect, it } from 'vitest';
import { newId } from '../../db/ids.ts';
import { QUOTAS } from '../../domain/money.ts';
import { TEMPLATE_BODY_MAX } from '../../domain/placeholders.ts';
import { database, newAccount, type TestAccount } from '../support/factories.ts';
import { refusal } from './refusal.ts';

const PATH = '/v1/templates';

async function created({ api }: TestAccount, content: object = {}): Promise<string> {
  const answer = await api.post(PATH, { name: 'Wizyta', body: 'Do jutra!', ...content });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.id;
}

async function storedOf({ id }: TestAccount): Promise<unknown[]> {
  return [...(await database()`select * from templates where account_id = ${id} order by id`)];
}

describe('POST /v1/templates', () => {
  it('answers 201 with the whole template; the type is sms and the subject null unless given', async () => {
    const { api } = await newAccount({ scopes: ['manage'] });
    const { status, body } = await api.post(PATH, { name: ' Wizyta ', body: 'Cześć {{Imie}}, do jutra.' });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^tpl_[0-9a-z]{26}$/) as string,
      name: 'Wizyta',
      type: 'sms',
      body: 'Cześć {{Imie}}, do jutra.',
      subject: null,
      placeholders: ['imie'],
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      updated_at: body.created_at,
    });
  });

  it('finds placeholders: lower-case, each once, in the order of the text; links are none', async () => {
    const { api } = await newAccount();
    const text =
      '{{Zaległość}} {{ imie }} {{IMIE}} {{kod_2}} {{link:https://example.com/a?b=1}} {{wypisz}} {x} }} {{_k}}';
    const { body } = await api.post(PATH, { name: 'x', body: text });
    expect(body).toMatchObject({ body: text, placeholders: ['zaległość', 'imie', 'kod_2', 'wypisz', '_k'] });
  });

  it.each(['sms', 'vms'])('takes the type %s, with a subject of null only', async (type) => {
    const { api } = await newAccount();
    const answer = await api.post(PATH, { name: 'x', body: 'y', type, subject: null });
    expect(answer).toMatchObject({ status: 201, body: { type, subject: null } });
    const refused = await api.post(PATH, { name: 'x', body: 'y', type, subject: 'Temat' });
    expect(refused).toMatchObject(refusal(400, 'subject'));
  });

  it('takes an mms with a subject and a long SMIL document', async () => {
    const { api } = await newAccount();
    const smil = `<smil>${'ż'.repeat(TEMPLATE_BODY_MAX.mms - 14)}{{k}}</s>`.slice(0, TEMPLATE_BODY_MAX.mms);
    const answer = await api.post(PATH, { name: 'x', body: smil, type: 'mms', subject: ' Rabat ' });
    expect(answer).toMatchObject({ status: 201, body: { type: 'mms', subject: 'Rabat', body: smil } });
    expect((await api.post(PATH, { name: 'x', body: 'y', type: 'mms' })).body).toMatchObject({
      subject: null,
    });
  });

  it.each([
    [{ body: 'y' }, 'name'],
    [{ name: ' \n ', body: 'y' }, 'name'],
    [{ name: 'n'.repeat(81), body: 'y' }, 'name'],
    [{ name: 5, body: 'y' }, 'name'],
    [{ name: 'x' }, 'body'],
    [{ name: 'x', body: '' }, 'body'],
    [{ name: 'x', body: 'b'.repeat(TEMPLATE_BODY_MAX.sms + 1) }, 'body'],
    [{ name: 'x', body: 'b'.repeat(TEMPLATE_BODY_MAX.mms + 1), type: 'mms' }, 'body'],
    [{ name: 'x', body: '{{link:javascript:alert(1)}}' }, 'body'],
    [{ name: 'x', body: 'y', type: 'SMS' }, 'type'],
    [{ name: 'x', body: '{{imie' }, 'body'],
    [{ name: 'x', body: 'y', type: 'mms', subject: 's'.repeat(81) }, 'subject'],
    [{ name: 'x', body: 'y', type: 'mms', subject: 'a\nb' }, 'subject'],
    [{ name: 'x', body: 'y', id: 'tpl_1' }, 'id'],
    [[], undefined],
  ])('refuses %j', async (body, param) => {
    const account = await newAccount();
    const answer = await account.api.post(PATH, body);
    expect(answer).toMatchObject(refusal(400));
    expect(answer.body.error.param).toBe(param);
    expect(await storedOf(account)).toEqual([]);
  });

  it.each(['sms', 'vms'] as const)('counts an emoji in a body for %s once', async (type) => {
    const { api } = await newAccount();
    const body = '😀'.repeat(TEMPLATE_BODY_MAX[type]);
    expect(await api.post(PATH, { name: 'x', body, type })).toMatchObject({ status: 201, body: { body } });
    const over = await api.post(PATH, { name: 'x', body: `${body}a`, type });
    expect(over).toMatchObject(refusal(400, 'body'));
  });

  it('an empty subject is none', async () => {
    const { api } = await newAccount();
    expect((await api.post(PATH, { name: 'x', body: 'y', subject: ' ' })).body).toMatchObject({
      subject: null,
    });
  });

  it('ends at 5 MB of text, for changes too', async () => {
    const account = await newAccount();
    await fill(account, 50, 'x'.repeat((QUOTAS.template_bytes.usual - 1_000) / 50));
    const id = await created(account, { body: 'a' });
    const long = 'ą'.repeat(600);
    expect(await account.api.post(PATH, { name: 'x', body: long })).toMatchObject(refusal(400, 'body'));
    expect(await account.api.patch(`${PATH}/${id}`, { body: long })).toMatchObject(refusal(400, 'body'));
    expect((await account.api.get(`${PATH}/${id}`)).body).toMatchObject({ body: 'a' });
  });

  async function fill({ id }: TestAccount, count: number, text: string): Promise<void> {
    const rows = Array.from({ length: count }, () => ({ id: newId('tpl'), account_id: id, type: 'sms' }));
    await database()`
      insert into templates (id, account_id, name, type, body)
      select r->>'id', r->>'account_id', 'x', 'sms', ${text}
        from jsonb_array_elements(${JSON.stringify(rows)}::text::jsonb) r`;
  }
});

describe('GET /v1/templates', () => {
  it('lists by name in the order of the Polish alphabet, then by age', async () => {
    const account = await newAccount();
    const names = ['Żurawina', 'zebra', 'Łoś', 'lato', 'Ćma', 'cena', 'ul', 'Ósemka', 'okno', 'Lato', 'cena'];
    for (const name of names) await created(account, { name });
    const { status, body } = await account.api.get(PATH);
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['data']);
    const listed = (body.data as unknown as { name: string; id: string }[]).map(({ name }) => name);
    expect(listed).toEqual([
      ...['cena', 'cena', 'Ćma', 'lato', 'Lato', 'Łoś', 'okno', 'Ósemka', 'ul', 'zebra', 'Żurawina'],
    ]);
    const [first, second] = body.data;
    expect(first!.id < second!.id).toBe(true);
  });

  it('is empty at first, takes no parameters and shows one template as the list does', async () => {
    const account = await newAccount();
    expect((await account.api.get(PATH)).body).toEqual({ data: [] });
    expect(await account.api.get(`${PATH}?limit=5`)).toMatchObject(refusal(400, 'limit'));
    const id = await created(account);
    expect((await account.api.get(PATH)).body.data).toEqual([(await account.api.get(`${PATH}/${id}`)).body]);
  });
});

describe('one template', () => {
  it.each(['tpl_1', 'tpl_00000000000000000000000000', '%00'])('the id %s gives 404', async (id) => {
    const { api } = await newAccount();
    for (const answer of [
      await api.get(`${PATH}/${id}`),
      await api.patch(`${PATH}/${id}`, { name: 'x' }),
      await api.delete(`${PATH}/${id}`),
    ]) {
      expect(answer).toMatchObject(refusal(404));
    }
  });
});

describe('PATCH /v1/templates/{id}', () => {
  it('changes what is given, and only that', async () => {
    const account = await newAccount();
    const id = await created(account);
    const before = (await account.api.get(`${PATH}/${id}`)).body;
    const { status, body } = await account.api.patch(`${PATH}/${id}`, { body: 'Kod: {{KOD}}' });
    expect(status).toBe(200);
    expect(body).toEqual({
      ...before,
      body: 'Kod: {{KOD}}',
      placeholders: ['kod'],
      updated_at: expect.any(String) as string,
    });
    expect(body.updated_at > before.updated_at).toBe(true);
    expect((await account.api.patch(`${PATH}/${id}`, { name: 'Nowa' })).body).toMatchObject({
      name: 'Nowa',
      body: 'Kod: {{KOD}}',
    });
    expect((await account.api.get(`${PATH}/${id}`)).body).toMatchObject({ name: 'Nowa', type: 'sms' });
  });

  it.each([
    [{}, undefined],
    [{ name: null }, undefined],
    [{ body: '' }, 'body'],
    [{ body: '{{link:nic}}' }, 'body'],
    [{ subject: 'Temat' }, 'subject'],
    [{ text: 'x' }, 'text'],
  ])('refuses %j and changes nothing', async (patch, param) => {
    const account = await newAccount();
    const id = await created(account);
    const before = await storedOf(account);
    const answer = await account.api.patch(`${PATH}/${id}`, patch);
    expect(answer.status).toBe(400);
    expect(answer.body.error.param).toBe(param);
    expect(await storedOf(account)).toEqual(before);
  });

  it('a subject comes with the type mms and goes with it', async () => {
    const account = await newAccount();
    const id = await created(account);
    const patch = (content: object) => account.api.patch(`${PATH}/${id}`, content);
    expect((await patch({ type: 'mms', subject: 'Rabat' })).body).toMatchObject({
      type: 'mms',
      subject: 'Rabat',
    });
    expect((await patch({ name: 'x' })).body).toMatchObject({ subject: 'Rabat' });
    expect((await patch({ subject: null })).body).toMatchObject({ type: 'mms', subject: null });
    expect((await patch({ subject: 'Znowu' })).body).toMatchObject({ subject: 'Znowu' });
    expect((await patch({ subject: null, type: 'vms' })).body).toMatchObject({ type: 'vms', subject: null });
    expect((await patch({ subject: null })).status).toBe(200);
  });

  it.each(['sms'])('a type without subjects is refused while there is one, as in POST: %s', async (type) => {
    const account = await newAccount();
    const id = await created(account, { type: 'mms', subject: 'Rabat' });
    const before = await storedOf(account);
    for (const patch of [{ type }, { type, subject: 'Inny' }, { type, name: 'x', body: 'y' }]) {
      const answer = await account.api.patch(`${PATH}/${id}`, patch);
      expect(answer).toMatchObject(refusal(400, 'subject'));
    }
    expect(await storedOf(account)).toEqual(before);
    const given = await account.api.patch(`${PATH}/${id}`, { type, subject: null });
    expect(given).toMatchObject({ status: 200, body: { type, subject: null } });
  });

  it('a body too long for its new type refuses the change of type', async () => {
    const account = await newAccount();
    const id = await created(account, { type: 'mms', body: 'b'.repeat(TEMPLATE_BODY_MAX.sms + 1) });
    const answer = await account.api.patch(`${PATH}/${id}`, { type: 'sms' });
    expect(answer).toMatchObject(refusal(400, 'body'));
    expect((await account.api.patch(`${PATH}/${id}`, { type: 'sms', body: 'b' })).status).toBe(200);
  });

  it('changes of different fields at once all take effect', async () => {
    const account = await newAccount();
    const id = await created(account, { type: 'mms' });
    const answers = await Promise.all(
      [{ name: 'A' }, { body: 'B {{c}}' }, { subject: 'S' }].map((patch) =>
        account.api.patch(`${PATH}/${id}`, patch),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await account.api.get(`${PATH}/${id}`)).body).toMatchObject({
      name: 'A',
      body: 'B {{c}}',
      subject: 'S',
    });
  });
});

describe('DELETE /v1/templates/{id}', () => {
  it('answers the id once, then 404', async () => {
    const account = await newAccount();
    const id = await created(account);
    expect(await account.api.delete(`${PATH}/${id}`)).toMatchObject({ status: 200, body: { deleted: id } });
    expect((await account.api.delete(`${PATH}/${id}`)).status).toBe(404);
    expect((await account.api.get(`${PATH}/${id}`)).status).toBe(404);
  });
});
