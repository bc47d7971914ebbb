import { describe, expect, inject, it } from 'vitest';
import { endpoints } from '../../api/endpoints.ts';
import { apiClient } from '../support/client.ts';
import { database, newAccount, newKey, type TestAccount } from '../support/factories.ts';
import { accessCases } from './access/cases.ts';
import { postTool } from '../support/rawTool.ts';
import { everythingOf } from './access/everything.ts';

// Stated here on its own, not taken from the declarations: what a test key may call on a live account. All else is closed.
const READABLE = [
  'POST /v1/messages/estimate',
  'POST /v1/mms/estimate',
  'POST /v1/voice/estimate',
  'GET /v1/messages',
  'GET /v1/messages/:id',
  'GET /v1/messages/:id/events',
  'GET /v1/account',
  'GET /v1/account/webhook/deliveries',
  'GET /v1/senders',
  'GET /v1/verifications/:id',
  'GET /v1/blacklist',
  'GET /v1/templates',
  'GET /v1/templates/:id',
  'GET /v1/inbound',
  'GET /v1/inbound/:id',
  'GET /v1/links',
  'GET /v1/links/:token',
  'GET /v1/reports',
  'GET /v1/contacts',
  'GET /v1/contacts/:id',
  'GET /v1/groups',
  'GET /v1/groups/:id',
  'GET /v1/email',
  'GET /v1/email/:id',
  'GET /v1/email/suppressions',
];

const routes = endpoints.filter(({ scope }) => scope !== null).map(({ method, path }) => `${method} ${path}`);
const resourceOf = (route: string) => accessCases.find(({ cases }) => route in cases)!;

async function withKey(account: TestAccount, mode: 'test' | 'live'): Promise<TestAccount> {
  const { key, keyId } = await newKey(account.id, mode);
  return { ...account, key, keyId, api: apiClient(inject('service').apiUrl, key) };
}

const CLOSED = {
  status: 403,
  body: { error: { code: 'forbidden', message: expect.stringContaining('Klucz testowy') as string } },
};

describe('a test key on a live account', () => {
  it('has a list of what it may read that names nothing else', () => {
    expect(routes).toEqual(expect.arrayContaining(READABLE));
  });

  // What marks replies as read is a change; see below.
  it.each(routes.filter((route) => route !== 'GET /v1/inbound'))(
    '%s: open if it only reads, else closed',
    async (route) => {
      const account = await newAccount();
      const resource = resourceOf(route);
      const own = await resource.prepare(account);
      const { body } = await account.api.put('/v1/account/webhook', {
        url: 'https://example.com/hook?of=theirs',
      });
      const before = await everythingOf(account, resource.tables);
      const answer = await resource.cases[route]!.call(await withKey(account, 'test'), own);
      if (READABLE.includes(route)) expect(answer.status).toBe(200);
      else expect(answer).toMatchObject(CLOSED);
      expect(answer.text).not.toContain(body.webhook_secret);
      expect(answer.text).not.toContain('theirs');
      expect(await everythingOf(account, resource.tables)).toEqual(before);
    },
  );

  it('reads replies, but does not mark them as read', async () => {
    const account = await newAccount();
    const resource = resourceOf('GET /v1/inbound');
    const { inbound } = await resource.prepare(account);
    const before = await everythingOf(account, resource.tables);
    const { api } = await withKey(account, 'test');
    for (const path of ['/v1/inbound', '/v1/inbound?mark_read=false']) {
      const { status, body } = await api.get(path);
      expect([status, body.data.map(({ id }) => id)]).toEqual([200, [inbound]]);
    }
    const refused = await api.get('/v1/inbound?mark_read=true');
    expect(refused).toMatchObject({ ...CLOSED, body: { error: { param: 'mark_read' } } });
    expect(await everythingOf(account, resource.tables)).toEqual(before);
  });

  it('reads texts without the links that would opt their recipients out', async () => {
    const account = await newAccount();
    const { body: sent } = await account.api.send({ to: '500100200', text: 'Wypisz: {{opt_out}}' });
    const link = /\/o\/[0-9A-Za-z]{10}/.exec(sent.text)![0];
    const { api, key } = await withKey(account, 'test');
    const tool = await postTool(inject('service').apiUrl, key, 'modern', {
      name: 'get_message',
      args: { id: sent.id },
    });
    for (const text of [
      (await api.get(`/v1/messages/${sent.id}`)).text,
      (await api.get('/v1/messages')).text,
      await tool.text(),
    ]) {
      expect(text).not.toContain(link);
      expect(text).toContain('/o/XXXXXXXXXX');
    }
    expect((await account.api.get(`/v1/messages/${sent.id}`)).text).toContain(link);
  });

  it('is closed also for a repeated request, and for what would be refused anyway', async () => {
    const account = await newAccount();
    const message = { to: '500100200', text: 'x' };
    const first = await account.api.send(message, 'raz');
    const { api } = await withKey(account, 'test');
    const repeated = await api.send(message, 'raz');
    expect(repeated).toMatchObject(CLOSED);
    expect(repeated.text).not.toContain(first.body.id);
    expect(await api.patch('/v1/account', { nonsense: 1 })).toMatchObject(CLOSED);
    expect(await api.delete('/v1/contacts/ct_unknown')).toMatchObject(CLOSED);
  });
});

describe('an account that became live, or test again', () => {
  it('the very same key is closed from the first top-up on', async () => {
    const account = await newAccount({ mode: 'test', verified: ['+48500100200'] });
    const webhook = () => account.api.put('/v1/account/webhook', { url: 'https://example.com/hook' });
    expect((await webhook()).status).toBe(200);
    await database()`update accounts set mode = 'live' where id = ${account.id}`;
    expect(await webhook()).toMatchObject(CLOSED);
    expect((await account.api.get('/v1/account')).body).toMatchObject({ mode: 'live' });
  });

  it('a live key on a test account is a key like the account’s own: the account says what a send costs and whom it reaches', async () => {
    const account = await newAccount({ mode: 'test', balance: 100, verified: ['+48500100200'] });
    const { api } = await withKey(account, 'live');
    const batch = await api.send({ to: ['500100200'], text: 'x' });
    expect([batch.status, batch.body]).toMatchObject([201, { test_mode: true }]);
    expect((await api.send({ to: '500100201', text: 'x' })).status).toBe(403);
    expect((await api.get('/v1/account')).body).toMatchObject({ balance_grosze: 100, test_credits: 24 });
    expect((await api.put('/v1/account/webhook', { url: 'https://example.com/hook' })).status).toBe(200);
  });
});
