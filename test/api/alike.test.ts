import { expect, it } from 'vitest';
import { decided } from '../support/decided.ts';
import { newAccount, type TestAccount } from '../support/factories.ts';
import { everythingOf } from './access/everything.ts';

// What two accounts have under the same number, name or address is each one's own: no id tells it apart here.
const NUMBER = '+48500100200';
const later = new Date(Date.now() + 86_400_000).toISOString();
const BOOK = ['contacts', 'contact_groups', 'group_members', 'account_usage'];

async function withBook(firstName: string): Promise<TestAccount> {
  const account = await newAccount({
    senders: [firstName.toUpperCase()],
    defaultSender: firstName.toUpperCase(),
  });
  const contact = { msisdn: NUMBER, first_name: firstName, groups: ['VIP', 'Stali'] };
  expect((await account.api.post('/v1/contacts', [contact])).body).toMatchObject({ created: 1, updated: 0 });
  return account;
}

const contactOf = async ({ api }: TestAccount) => (await api.get('/v1/contacts')).body.data[0]!;

it('contacts of one number, and groups of one name', async () => {
  // The other account is the older one in the first round, the younger in the second.
  for (const names of [
    ['Ewa', 'Anna'],
    ['Anna', 'Ewa'],
  ]) {
    const accounts = [await withBook(names[0]!), await withBook(names[1]!)];
    const own = accounts[names.indexOf('Anna')]!;
    const other = accounts[names.indexOf('Ewa')]!;
    await other.api.post('/v1/contacts', { msisdn: '+48500100201', first_name: 'Olga' });
    const before = await everythingOf(other, BOOK);
    const { id } = await contactOf(own);

    const changed = await own.api.post('/v1/contacts', [
      { msisdn: NUMBER, last_name: 'Nowak', groups: ['VIP'] },
    ]);
    expect(changed.body).toMatchObject({ created: 0, updated: 1 });
    const contact = await contactOf(own);
    expect(contact).toMatchObject({ id, first_name: 'Anna', last_name: 'Nowak', groups: [{ name: 'VIP' }] });
    const group = contact.groups[0]!.id;
    const members = await own.api.post(`/v1/groups/${group}/contacts`, { msisdns: [NUMBER, '500100202'] });
    expect(members.body).toMatchObject({ added: 1, invalid: [], members: 2 });
    const personal = { to: [NUMBER, '+48500100201'], text: 'a{{imie}}', send_at: later };
    expect((await own.api.accepted(personal)).messages.map(({ text }) => text)).toEqual(['aAnna', 'a']);
    expect((await own.api.patch(`/v1/contacts/${id}`, { msisdn: '+48500100201' })).status).toBe(200);
    const toGroup = await own.api.accepted({ to: 'group:VIP', text: 'x', send_at: later });
    expect(toGroup.messages.map(({ to }) => to).sort()).toEqual(['+48500100201', '+48500100202']);

    expect(await everythingOf(other, BOOK)).toEqual(before);
  }
});

it('numbers on the blacklist, keys of requests, and senders', async () => {
  const [own, other] = [await newAccount(), await newAccount({ senders: ['OBCY'], defaultSender: 'OBCY' })];
  expect((await other.api.post('/v1/blacklist', { msisdn: NUMBER })).status).toBe(201);
  const send = { to: NUMBER, text: 'x', send_at: later };
  const blocked = await decided(() => other.api.send(send, 'klucz'));
  expect(blocked.body).toMatchObject({ status: 'rejected' });
  const sent = await decided(() => own.api.send(send, 'klucz'));
  expect(sent.body).toMatchObject({ status: 'scheduled' });
  expect(sent.body.id).not.toBe(blocked.body.id);
  expect((await own.api.send({ ...send, from: 'OBCY' })).status).not.toBe(201);
  expect((await own.api.patch('/v1/account', { sender_name: 'OBCY' })).status).toBe(422);
  expect((await own.api.delete(`/v1/blacklist/${NUMBER}`)).status).toBe(404);
  expect((await other.api.get('/v1/blacklist')).body.data).toHaveLength(1);
});

it('tracked and opt-out links to one number', async () => {
  const accounts = [await newAccount(), await newAccount()];
  const text = '{{link:https://example.com/oferta}} {{opt_out}}';
  const texts: string[] = [];
  for (const { api } of accounts) texts.push((await api.accepted({ to: NUMBER, text, send_at: later })).text);
  const tokens = texts.flatMap((one) => [...one.matchAll(/\/[lo]\/(\w+)/g)].map(([, token]) => token));
  expect(new Set(tokens).size).toBe(4);
  for (const [index, { api }] of accounts.entries())
    expect((await api.get('/v1/links')).body.data.map(({ token }) => token)).toEqual([tokens[2 * index]]);
});
