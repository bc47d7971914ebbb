import { describe, expect, inject, it } from 'vitest';
import { SHORT_URL } from '../support/service.ts';
import { books, database, newAccount, storedMessages, type TestAccount } from '../support/factories.ts';
import { refusal } from './refusal.ts';

const later = new Date(Date.now() + 86_400_000).toISOString();
const HOST = SHORT_URL.replace('https://', '');
const LINK = new RegExp(`^${HOST}/l/([0-9A-Za-z]{8})$`);
const OPT_OUT = new RegExp(`^${HOST}/o/([0-9A-Za-z]{10})$`);

async function withContacts(wish = {}): Promise<TestAccount> {
  const account = await newAccount(wish);
  const contacts = [
    {
      msisdn: '500100201',
      first_name: 'Ala',
      last_name: 'Kot',
      email: 'ala@example.pl',
      fields: { Miasto: 'Łódź', kod: 'A1' },
      groups: ['VIP'],
    },
    {
      msisdn: '500100202',
      first_name: '{{nazwisko}}{{opt_out}}',
      last_name: 'Nowak',
      groups: ['VIP', 'Inni'],
    },
  ];
  expect((await account.api.post('/v1/contacts', contacts)).status).toBe(201);
  return account;
}

const many = (count: number) => Array.from({ length: count }, (_, i): [string, string] => [`k${i}`, 'x']);

const textTo = async ({ api }: TestAccount, to: string, text: string) =>
  (await api.send({ to, text, send_at: later })).body.text;

describe('placeholders in a text', () => {
  it('are filled from the contact book, missing ones and unknown numbers with nothing', async () => {
    const account = await withContacts();
    const text = '{{imie}}|{{NAZWISKO}}|{{ miasto }}|{{brak}}|';
    expect(await textTo(account, '+48500100201', text)).toBe('Ala|Kot|Łódź||');
    expect(await textTo(account, '500100299', `x${text}`)).toBe('x||||');
    expect(await textTo(account, '500100201', '{{email}} {{KOD}}')).toBe('ala@example.pl A1');
  });

  it('make each recipient’s own text, parts and cost', async () => {
    const account = await withContacts({ price: 10 });
    const filler = 'a'.repeat(69);
    const body = await account.api.accepted({
      to: ['500100201', '500100299'],
      text: `${filler}{{miasto}}`,
      send_at: later,
    });
    expect(body.messages.map(({ text, parts, cost_grosze }) => [text, parts, cost_grosze])).toEqual([
      [`${filler}Łódź`, 2, 20],
      [filler, 1, 10],
    ]);
    expect(body).toMatchObject({ count: 2, accepted: 2, total_cost_grosze: 30 });
    expect(await books(account.id)).toMatchObject({ balance: 10_000 - 30 });
    const stored = await account.api.get(`/v1/messages/${body.messages[0]!.id}`);
    expect(stored.body).toMatchObject({ text: `${filler}Łódź`, parts: 2, cost_grosze: 20 });
  });

  it.each([
    ['{{imie}}{{nazwisko}}{{email}}{{miasto}}', 201],
    ['{{imie}}{{nazwisko}}{{email}}{{miasto}}{{kod}}', 400],
    ['{{imie}}{{nazwisko}}{{opt_out}}{{link:https://a.pl}}', 201],
    ['{{link:https://a.pl}}{{link:https://b.pl}}{{link:https://a.pl}}', 201],
    ['{{link:https://a.pl}}{{link:https://b.pl}}{{link:https://c.pl}}', 400],
    ['{{link:https://a.pl}', 400],
    ['{"a":{"b":1}} {imie}', 201],
    ['{{}}', 400],
  ])('%s gives %i', async (text, status) => {
    const account = await withContacts();
    const answer = await account.api.send({ to: '500100201', text, send_at: later });
    expect(answer.status).toBe(status);
    if (status === 400) {
      expect(answer.body.error).toMatchObject({ code: 'invalid_request', param: 'text' });
      expect(await storedMessages(account.id)).toEqual([]);
    }
  });

  it.each([
    ['👋 {{imie}}, {{a-b}}!', '„{{a-b}}” (znak 13 treści)'],
    ['{{link:ftp://a.pl}}', '„{{link:ftp://a.pl}}” (znak 1 treści)'],
  ])(
    'malformed in %j: the message says what and where, of text, body and template alike',
    async (text, where) => {
      const account = await withContacts();
      const { api } = account;
      const message = expect.stringContaining(where) as string;
      const blamed = (param: string) => ({
        status: 400,
        body: { error: { code: 'invalid_request', param, message } },
      });
      expect(await api.send({ to: '500100201', text })).toMatchObject(blamed('text'));
      expect(await api.post('/v1/messages/estimate', { to: '500100201', text })).toMatchObject(
        blamed('text'),
      );
      expect(await api.post('/v1/templates', { name: 'x', body: text })).toMatchObject(blamed('body'));
      const { id } = (await api.post('/v1/templates', { name: 'x', body: 'y' })).body;
      expect(await api.patch(`/v1/templates/${id}`, { body: text })).toMatchObject(blamed('body'));
      // One that was stored before this was refused.
      await database()`update templates set body = ${text} where id = ${id}`;
      expect(await api.send({ to: '500100201', template_id: id })).toMatchObject(blamed('template_id'));
      expect((await api.get(`/v1/templates/${id}`)).status).toBe(200);
      expect((await api.patch(`/v1/templates/${id}`, { name: 'inna' })).body).toMatchObject({ name: 'inna' });
      expect(await storedMessages(account.id)).toEqual([]);
    },
  );

  it('in a contact’s or a param’s value are never refused, however malformed', async () => {
    const account = await newAccount();
    await account.api.post('/v1/contacts', {
      msisdn: '500100201',
      first_name: '{{imie',
      fields: { kod: '{{a-b}}' },
    });
    expect(await textTo(account, '500100201', '{{imie}} {{kod}}')).toBe('{{imie {{a-b}}');
    const { id } = (await account.api.post('/v1/templates', { name: 'x', body: '{{json}}' })).body;
    const params = { json: '{{#each}}{{' };
    const body = await account.api.accepted({ to: '500100201', template_id: id, params, send_at: later });
    expect(body.text).toBe('{{#each}}{{');
  });

  it('that leave nothing, or too much, are refused before anything is written', async () => {
    const account = await withContacts();
    for (const text of ['{{brak}}', ' {{imie}}\n{{nazwisko}} ', ' ', `{{imie}}${'a'.repeat(3058)}`]) {
      const answer = await account.api.send({ to: ['500100299', '500100201'], text });
      expect(answer).toMatchObject(refusal(400, 'text'));
    }
    expect(await storedMessages(account.id)).toEqual([]);
    const links = await database()`select from tracked_links where account_id = ${account.id}`;
    expect(links).toHaveLength(0);
  });
});

describe('opt-out and tracked links', () => {
  it('are the recipient’s own, without scheme, and the same for the same target', async () => {
    const { api } = await newAccount();
    const text =
      '{{link:https://sklep.pl/a?b=1}} {{link:https://sklep.pl/a?b=1}} {{link:http://x.pl}} {{opt_out}}';
    const body = await api.accepted({ to: ['500100201', '500100202'], text, send_at: later });
    const words = body.messages.map((message) => message.text.split(' '));
    for (const [first, again, other, optOut] of words) {
      expect(first).toMatch(LINK);
      expect(again).toBe(first);
      expect(other).toMatch(LINK);
      expect(other).not.toBe(first);
      expect(optOut).toMatch(OPT_OUT);
    }
    expect(words[0]![0]).not.toBe(words[1]![0]);
    expect(words[0]![3]).not.toBe(words[1]![3]);

    const repeated = await api.send({
      to: '500100201',
      text: '{{link:http://x.pl}} {{wypisz}}',
      send_at: later,
    });
    expect(repeated.body.text).toBe(`${words[0]![2]} ${words[0]![3]}`);
  });

  it('an opt-out link works', async () => {
    const { api } = await newAccount();
    const text = (await api.send({ to: '500100201', text: '{{opt_out}}', send_at: later })).body.text;
    const token = OPT_OUT.exec(text)![1]!;
    expect((await fetch(`${inject('service').apiUrl}/o/${token}`)).status).toBe(200);
    const after = await api.send({ to: '500100201', text: 'x' });
    expect(after.body).toMatchObject({ status: 'rejected', cost_grosze: 0 });
  });
});

describe('templates', () => {
  const template = async ({ api }: TestAccount, body: string, type = 'sms') =>
    (await api.post('/v1/templates', { name: 'Szablon', body, type })).body.id;

  it('take params in any case, the rest from contacts, else nothing', async () => {
    const account = await withContacts();
    const id = await template(account, '{{imie}} {{Kwota}} {{data}} {{miasto}} {{kod}}');
    const body = await account.api.accepted({
      to: ['500100201', '500100299'],
      template_id: id,
      params: { KWOTA: 120.5, Data: 'jutro', imie: null },
      send_at: later,
    });
    expect(body.messages.map(({ text }) => text)).toEqual([' 120.5 jutro Łódź A1', ' 120.5 jutro  ']);
  });

  it('count params neither towards the budget nor as placeholders', async () => {
    const account = await withContacts();
    const id = await template(account, '{{a}}{{b}}{{c}}{{imie}}{{nazwisko}}{{email}}{{kod}}');
    const params = { a: '{{imie}}', b: '{{link:https://a.pl}}', c: '{{c}}' };
    const body = await account.api.accepted({ to: '500100201', template_id: id, params, send_at: later });
    expect(body.text).toBe('{{imie}}{{link:https://a.pl}}{{c}}AlaKotala@example.plA1');
    expect((await account.api.send({ to: '500100201', template_id: id })).body.error.param).toBe(
      'template_id',
    );
  });

  it('refuse what does not fit, naming it', async () => {
    const account = await newAccount();
    const sms = await template(account, 'a {{b}}');
    const vms = await template(account, 'a', 'vms');
    const foreign = await template(await newAccount(), 'tajne');
    const to = '500100201';
    const cases: [object, number, string][] = [
      [{ to, template_id: vms }, 400, 'template_id'],
      [{ to, template_id: foreign }, 404, 'template_id'],
      [{ to, template_id: 'tpl_x' }, 404, 'template_id'],
      [{ to }, 400, 'text'],
      [{ to, text: 'x', params: { b: 'y' } }, 400, 'params'],
      [{ to, template_id: sms, params: { b: 'x', B: 'y' } }, 400, 'params'],
      [{ to, template_id: sms, params: { b: 'a'.repeat(1001) } }, 400, 'params'],
      [{ to, template_id: sms, params: Object.fromEntries(many(101)) }, 400, 'params'],
    ];
    for (const [body, status, param] of cases) {
      const answer = await account.api.send(body);
      expect([answer.status, answer.body.error.param], JSON.stringify(body)).toEqual([status, param]);
    }
    expect(await storedMessages(account.id)).toEqual([]);
  });

  it('say of a param of a wrong type which types it may have', async () => {
    const { api } = await newAccount();
    const { body } = await api.send({ to: '500100201', template_id: 'tpl_x', params: { b: true } });
    expect(body.error.message).toBe('Pole „params.b” musi być tekstem albo liczbą.');
    for (const params of ['b', []]) {
      const refused = await api.send({ to: '500100201', template_id: 'tpl_x', params });
      expect(refused.body.error.message).toBe('Pole „params” musi być obiektem.');
    }
  });

  it('leave sent messages as they are when they change', async () => {
    const account = await newAccount();
    const id = await template(account, 'przed');
    const body = await account.api.accepted({ to: '500100201', template_id: id, send_at: later });
    await account.api.patch(`/v1/templates/${id}`, { body: 'po' });
    await account.api.delete(`/v1/templates/${id}`);
    expect((await account.api.get(`/v1/messages/${body.id}`)).body.text).toBe('przed');
  });
});

describe('groups', () => {
  it('are expanded by name in any case and by id, answered with a BatchResult, each number once', async () => {
    const account = await withContacts();
    const groups = (await account.api.get('/v1/groups')).body.data as unknown as {
      id: string;
      name: string;
    }[];
    const { id } = groups.find(({ name }) => name === 'VIP')!;
    for (const to of [
      'group:vip',
      `group:${id}`,
      ['group:VIP'],
      [`group:${id}`, 'group:Vip', '500100202', 'group:inni'],
    ]) {
      const { status, body } = await account.api.send({ to, text: 'Hej {{imie}}', send_at: later });
      expect([status, body.count, body.accepted]).toEqual([201, 2, 2]);
      expect(body.messages.map((message) => message.to)).toEqual(['+48500100201', '+48500100202']);
      expect(body.messages[0]!.text).toBe('Hej Ala');
    }
  });

  it('unknown, foreign and empty ones are refused, nothing is sent', async () => {
    const account = await withContacts();
    const stranger = await newAccount();
    await account.api.post('/v1/groups', { name: 'Pusta' });
    for (const to of [
      'group:nie ma',
      'group:',
      ['500100201', 'group:nie ma'],
      'group:gr_00000000000000000000000000',
    ]) {
      const answer = await account.api.send({ to, text: 'x' });
      expect(answer).toMatchObject(refusal(404, 'groups'));
    }
    expect(await stranger.api.send({ to: 'group:VIP', text: 'x' })).toMatchObject({ status: 404 });
    const empty = await account.api.send({ to: ['500100201', 'group:pusta'], text: 'x' });
    expect(empty).toMatchObject(refusal(400, 'groups'));
    expect(await storedMessages(account.id)).toEqual([]);
  });

  it('cannot have a name that no text can hold', async () => {
    const account = await withContacts();
    for (const to of ['group:\0', ['500100201', 'group:VIP\0'], 'group:\ud800']) {
      const answer = await account.api.send({ to, text: 'x' });
      expect(answer).toMatchObject(refusal(400, 'to'));
    }
    expect(await storedMessages(account.id)).toEqual([]);
  });

  it('with more than 500 numbers are refused', async () => {
    // Without money: a list that is not refused is priced.
    const account = await newAccount({ balance: 0 });
    const { body } = await account.api.post('/v1/groups', { name: 'Duża' });
    const fill = (from: number, count: number) => {
      const msisdns = Array.from({ length: count }, (_, i) => `+48600${String(100_000 + from + i)}`);
      return account.api.post(`/v1/groups/${body.id}/contacts`, { msisdns });
    };
    expect((await fill(0, 500)).status).toBe(200);
    const all = await account.api.send({ to: 'group:duża', text: 'x', send_at: later });
    expect([all.status, all.body.error.code]).toEqual([402, 'insufficient_funds']);
    await fill(500, 1);
    const over = await account.api.send({ to: 'group:duża', text: 'x', send_at: later });
    expect(over).toMatchObject(refusal(400, 'to'));
  });

  it('hold a test account to its verified numbers', async () => {
    const account = await withContacts({ mode: 'test', verified: ['+48500100201'] });
    expect((await account.api.send({ to: 'group:VIP', text: 'x' })).status).toBe(403);
    expect((await account.api.send({ to: ['500100201'], text: 'x', send_at: later })).status).toBe(201);
  });
});

describe('blacklisted recipients', () => {
  const block = ({ api }: TestAccount, msisdn: string) => api.post('/v1/blacklist', { msisdn });

  it('are rejected at no cost and not counted as accepted', async () => {
    const account = await newAccount({ price: 10 });
    await block(account, '500100201');
    const { status, body } = await account.api.send({
      to: ['500100201', '500100202'],
      text: 'x',
      send_at: later,
    });
    expect([status, body.count, body.accepted, body.total_cost_grosze]).toEqual([201, 2, 1, 10]);
    expect(body.messages[0]).toMatchObject({
      status: 'rejected',
      cost_grosze: 0,
      send_at: null,
      to: '+48500100201',
    });
    expect(body.messages[0]!.error).toMatch(/czarnej liście/);
    expect(body.messages[1]).toMatchObject({ status: 'scheduled', cost_grosze: 10, error: null });
    expect(await books(account.id)).toMatchObject({ balance: 9990, ledger: 9990 });
    const read = await account.api.get(`/v1/messages/${body.messages[0]!.id}`);
    expect(read.body).toEqual({ ...body.messages[0], links: [] });
    expect((await account.api.get('/v1/messages?status=rejected')).body.data).toHaveLength(1);
    expect((await account.api.delete(`/v1/messages/${body.messages[0]!.id}`)).status).toBe(409);
  });

  it('alone, with an empty balance, and repeated by key', async () => {
    const account = await newAccount({ balance: 0 });
    await block(account, '500100201');
    const single = await account.api.send({ to: '500100201', text: 'x' }, 'k');
    expect(single).toMatchObject({ status: 201, body: { status: 'rejected', cost_grosze: 0 } });
    const again = await account.api.send({ to: '500100201', text: 'x' }, 'k');
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual(single.body);
    const batch = await account.api.send({ to: ['500100201'], text: 'x' });
    expect(batch.body).toMatchObject({ count: 1, accepted: 0, total_cost_grosze: 0 });
    expect(await books(account.id)).toMatchObject({ balance: 0 });
    const credits = await newAccount({ mode: 'test', testCredits: 1, verified: ['+48500100201'] });
    await block(credits, '500100201');
    await credits.api.send({ to: '500100201', text: 'x' });
    expect(await books(credits.id)).toMatchObject({ credits: 1 });
  });

  it('of another account, expired or removed ones are not', async () => {
    const account = await newAccount();
    const other = await newAccount();
    await block(other, '500100201');
    await block(account, '500100202');
    await account.api.delete('/v1/blacklist/500100202');
    await block(account, '500100203');
    await database()`
      update blacklist set expires_at = now() - interval '1 s' where account_id = ${account.id} and msisdn = '+48500100203'`;
    const to = ['500100201', '500100202', '500100203'];
    const body = await account.api.accepted({ to, text: 'x', send_at: later });
    expect(body.accepted).toBe(3);
  });
});
