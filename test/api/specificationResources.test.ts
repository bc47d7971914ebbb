import { describe, expect, it } from 'vitest';
import { addSimulatedReply } from '../../db/routes/simulator.ts';
import { eventually } from '../support/eventually.ts';
import { books, database, newAccount } from '../support/factories.ts';
import { refusal } from './refusal.ts';

// As specification.test.ts, for the resources around the messages: what the description says and no other test asks.

const later = new Date(Date.now() + 86_400_000).toISOString();

describe('PATCH /v1/contacts/{id}', () => {
  it.each([
    [{ msisdn: '12' }, 400, 'msisdn'],
    [{ first_name: 'x'.repeat(101) }, 400, 'first_name'],
    [{ fields: { '1a': 'x' } }, 400, 'fields'],
    [{ groups: ['gr_00000000000000000000000000'] }, 404, 'groups'],
    [{ nick: 'x' }, 400, 'nick'],
  ])('%j gives %i with param %s and changes nothing', async (patch, status, param) => {
    const { api } = await newAccount();
    const { body: contact } = await api.post('/v1/contacts', { msisdn: '500100200', first_name: 'Jan' });
    const answer = await api.patch(`/v1/contacts/${contact.id}`, patch);
    expect([answer.status, answer.body.error.param]).toEqual([status, param]);
    expect((await api.get(`/v1/contacts/${contact.id}`)).body).toEqual(contact);
  });
});

describe('PATCH /v1/groups/{id}', () => {
  it('needs a name, and knows nothing else', async () => {
    const { api } = await newAccount();
    const { id } = (await api.post('/v1/groups', { name: 'A' })).body;
    const patch = (body: object) => api.patch(`/v1/groups/${id}`, body);
    expect(await patch({})).toMatchObject(refusal(400, 'name'));
    expect(await patch({ name: 'B', members: 3 })).toMatchObject(refusal(400, 'members'));
    expect((await api.get(`/v1/groups/${id}`)).body.name).toBe('A');
  });
});

describe('a template', () => {
  it('holds opt-out and tracked links and what contacts say, as a text does', async () => {
    const { api } = await newAccount();
    await api.post('/v1/contacts', { msisdn: '500100200', first_name: 'Ala', last_name: null });
    const content = '{{Imie}}|{{nazwisko}}|{{x}}|{{link:https://sklep.pl/a}} {{wypisz}}';
    const { id } = (await api.post('/v1/templates', { name: 'a', body: content })).body;
    const body = await api.accepted({ to: '500100200', template_id: id, params: { X: 1 }, send_at: later });
    expect(body.text).toMatch(/^Ala\|\|1\|s\.example\/l\/\w{8} s\.example\/o\/\w{10}$/);
    expect((await api.get(`/v1/messages/${body.id}`)).body.links).toMatchObject([
      { url: 'https://sklep.pl/a', message_id: body.id, to: '+48500100200' },
    ]);
  });

  it.each([
    '{{link:https://a.pl}}{{link:https://b.pl}}{{link:https://c.pl}}',
    '{{imie}}{{nazwisko}}{{email}}{{wypisz}}{{link:https://a.pl}}',
  ])('is held to the limits of a text: %s', async (content) => {
    const { api } = await newAccount();
    const { id } = (await api.post('/v1/templates', { name: 'a', body: content })).body;
    const answer = await api.send({ to: '500100200', template_id: id, send_at: later });
    expect(answer).toMatchObject(refusal(400, 'template_id'));
  });
});

describe('what the recipients get', () => {
  it('is the text that their messages show, in all its parts', async () => {
    const { api } = await newAccount();
    await api.post('/v1/contacts', [
      { msisdn: '500100200', first_name: 'Żaneta', groups: ['VIP'] },
      { msisdn: '500100201', first_name: '{{opt_out}}', groups: ['VIP'] },
    ]);
    const text = `{{imie}}, ${'oferta '.repeat(25)}{{link:https://sklep.pl/a}} {{opt_out}}`;
    const { messages } = (await api.send({ to: 'group:VIP', text })).body;
    expect(messages.map(({ parts }) => parts)).toEqual([4, 2]);
    for (const { id, text: shown, to } of messages) {
      await eventually(
        async () => (await api.get(`/v1/messages/${id}`)).body.status,
        (status) => status === 'delivered',
      );
      const submits = await database()<{ content: string; destination: string }[]>`
        select content, destination from simulator_submits where reference like ${`${id}/%`} order by part`;
      expect(submits.map(({ content }) => content).join('')).toBe(shown);
      expect(new Set(submits.map(({ destination }) => destination))).toEqual(new Set([to]));
    }
  });
});

describe('a reply', () => {
  it('costs nothing, and has no receiving number where the provider tells none', async () => {
    const account = await newAccount({ inboundNumber: '+48669900100' });
    const prefix = account.id.slice(-9).toUpperCase();
    await account.api.patch('/v1/account', { inbound_prefix: prefix });
    const before = await books(account.id);
    await addSimulatedReply(database(), { from: '+48669900101', to: null, text: `${prefix} tak` });
    const { data } = await eventually(
      async () => (await account.api.get('/v1/inbound')).body,
      (page) => page.data.length === 1,
    );
    expect(data[0]).toMatchObject({ to: null, text: 'tak', matched_by: 'prefix', reply_to: null });
    expect(await books(account.id)).toEqual(before);
  });
});
