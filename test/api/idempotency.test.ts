import { describe, expect, inject, it } from 'vitest';
import { fingerprintOf } from '../../operations/sending/idempotency.ts';
import type { ApiAnswer } from '../support/client.ts';
import { books, database, newAccount, storedMessages, type TestAccount } from '../support/factories.ts';
import { refusal } from './refusal.ts';

const later = new Date(Date.now() + 86_400_000).toISOString();
const body = { to: '500100200', text: 'x', send_at: later };
const isReplay = (answer: ApiAnswer) => answer.headers.get('idempotent-replayed') === 'true';

describe('Idempotency-Key', () => {
  it('repeats the answer without a second send or charge, whatever the order of the fields', async () => {
    const { id, api } = await newAccount({ balance: 100, price: 10 });
    const first = await api.send(body, 'klucz-1');
    const again = await api.send({ send_at: later, text: 'x', to: '500100200' }, 'klucz-1');
    expect([first.status, isReplay(first), again.status, isReplay(again)]).toEqual([201, false, 201, true]);
    expect(again.text).toBe(first.text);
    expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect(await books(id)).toMatchObject({ balance: 90, ledger: 90 });
    expect(await storedMessages(id)).toHaveLength(1);
    const template = await api.post('/v1/templates', { name: 'x', body: '{{a}} {{b}}' });
    const withParams = (params: object) =>
      api.send({ to: '500100200', template_id: template.body.id, send_at: later, params }, 'klucz-2');
    expect((await withParams({ a: '1', b: '2' })).status).toBe(201);
    expect(isReplay(await withParams({ b: '2', a: '1' }))).toBe(true);
    expect((await withParams({ a: '2', b: '1' })).status).toBe(409);
  });

  it('repeats a BatchResult as it was, also after a message of it was cancelled', async () => {
    const { api } = await newAccount();
    const batch = { ...body, to: ['500100200', '500100201'] };
    const first = await api.send(batch, 'k');
    await api.delete(`/v1/messages/${first.body.messages[0]!.id}`);
    expect((await api.send(batch, 'k')).text).toBe(first.text);
  });

  it.each(['', '{{link:https://example.com/}}'])('repeats a long answer as it was%s', async (link) => {
    const other = await newAccount();
    const theirs = await other.api.send({ ...body, to: ['500100200'] }, 'long');
    const { id, api } = await newAccount({ balance: 10_000_000 });
    const to = Array.from({ length: 120 }, (_, i) => `500100${String(999 - i).padStart(3, '0')}`);
    const smil = `<smil><body><text>{{imie}}${link}${'ż'.repeat(9_800)}</text></body></smil>`;
    const mms = { to, subject: 'x', smil, send_at: later };
    const first = await api.post('/v1/mms', mms, { 'idempotency-key': 'long' });
    const again = await api.post('/v1/mms', mms, { 'idempotency-key': 'long' });
    expect([first.status, isReplay(first), again.status, isReplay(again)]).toEqual([201, false, 201, true]);
    expect(again.text).toBe(first.text);
    expect(first.body.messages.map((one: { to: string }) => one.to)).toEqual(
      to.map((number) => `+48${number}`),
    );
    expect(await storedMessages(id)).toHaveLength(120);
    const links = await database()`select from tracked_links where account_id = ${id}`;
    expect((await other.api.send({ ...body, to: ['500100200'] }, 'long')).text).toBe(theirs.text);
    expect(links.count).toBe(link === '' ? 0 : 120);
  });

  it('repeats the answer also where the same request would be refused today', async () => {
    const { id, api } = await newAccount({ senders: ['SKLEP'] });
    const first = await api.send({ ...body, from: 'SKLEP' }, 'k');
    await database()`delete from senders where account_id = ${id}`;
    expect((await api.send({ ...body, from: 'SKLEP' }, 'k')).text).toBe(first.text);
    expect((await api.send({ ...body, from: 'SKLEP' }, 'k2')).status).toBe(422);
  });

  it('is free after a 402: the same request goes through after a top-up, and so does another one', async () => {
    for (const then of [body, { ...body, text: 'y' }]) {
      const account = await newAccount({ balance: 0 });
      const { id, api } = account;
      expect((await api.send(body, 'k')).status).toBe(402);
      expect((await api.send(body, 'k')).status).toBe(402);
      await topUp(account, 5000);
      const [first, again] = [await api.send(then, 'k'), await api.send(then, 'k')];
      expect([first.status, isReplay(first), again.status, isReplay(again)]).toEqual([201, false, 201, true]);
      expect(await storedMessages(id)).toHaveLength(1);
      expect(await books(id)).toMatchObject({ balance: 4990, ledger: 4990 });
    }
  });

  it('50 times at once with money for one message: one is sent, and all others hear of it', async () => {
    const { id, api } = await newAccount({ balance: 10, price: 10 });
    const answers = await Promise.all(Array.from({ length: 50 }, () => api.send(body, 'k')));
    expect(answers.filter((answer) => answer.status === 201 && !isReplay(answer))).toHaveLength(1);
    // Who comes after the money was taken gets the answer again, not a 402 for what was sent.
    for (const { status } of answers) expect([201, 409]).toContain(status);
    expect(await books(id)).toMatchObject({ balance: 0, ledger: 0 });
  });

  it('with other content gives 409', async () => {
    const { api } = await newAccount();
    await api.send(body, 'k');
    expect(await api.send({ ...body, text: 'y' }, 'k')).toMatchObject({
      status: 409,
      body: { error: { code: 'idempotency_conflict' } },
    });
  });

  it.each([
    [400, { to: 'x' }],
    [404, { to: 'group:nikt' }],
    [422, { from: 'NIKT' }],
  ])('is not used up by a refusal with %d', async (status, wrong) => {
    const { id, api } = await newAccount();
    expect((await api.send({ ...body, ...wrong }, 'k')).status).toBe(status);
    expect(await database()`select from idempotency_keys where account_id = ${id}`).toHaveLength(0);
    const sent = await api.send(body, 'k');
    expect([sent.status, isReplay(sent)]).toEqual([201, false]);
  });

  it('has 1 to 128 characters', async () => {
    const { api } = await newAccount();
    expect((await api.send(body, 'k'.repeat(128))).status).toBe(201);
    // A header travels as bytes: 128 characters of two bytes each.
    const wide = Buffer.from('ż'.repeat(128)).toString('latin1');
    expect((await api.send(body, wide)).status).toBe(201);
    for (const key of ['', 'k'.repeat(129)]) {
      expect(await api.send(body, key)).toMatchObject(refusal(400, 'Idempotency-Key'));
    }
  });

  it('is what its bytes say, UTF-8 or Latin-1: different keys stay different', async () => {
    const { id, api } = await newAccount();
    const utf8 = (key: string) => Buffer.from(key).toString('latin1');
    // `fetch` writes each character of a header as one byte.
    for (const key of ['zamówienie', 'zamêwienie', utf8('żółw'), '\u00ef\u00bb\u00bfk', 'k']) {
      expect(isReplay(await api.send(body, key))).toBe(false);
      expect(isReplay(await api.send(body, key))).toBe(true);
    }
    expect(await storedMessages(id)).toHaveLength(5);
    expect(isReplay(await api.send(body, utf8('zamówienie')))).toBe(true);
    expect((await api.send(body, 'ó'.repeat(128))).status).toBe(201);
    expect((await api.send(body, 'ó'.repeat(129))).status).toBe(400);
  });

  it('is free again after 24 h', async () => {
    const { id, api } = await newAccount();
    await api.send(body, 'k');
    const age = (by: string) => database()`
      update idempotency_keys set created_at = created_at - ${by}::interval where account_id = ${id}`;
    await age('23 hours 59 minutes');
    expect(isReplay(await api.send(body, 'k'))).toBe(true);
    await age('1 minute');
    const answers = await Promise.all(Array.from({ length: 5 }, () => api.send({ ...body, text: 'y' }, 'k')));
    expect(answers.filter((answer) => answer.status === 201 && !isReplay(answer))).toHaveLength(1);
    expect((await api.send(body, 'k')).status).toBe(409);
    expect(await storedMessages(id)).toHaveLength(2);
  });

  it('50 times at once sends once', async () => {
    const { id, api } = await newAccount({ balance: 1000, price: 10 });
    const answers = await Promise.all(Array.from({ length: 50 }, () => api.send(body, 'k')));
    const sent = answers.filter((answer) => answer.status === 201);
    expect(sent.filter((answer) => !isReplay(answer))).toHaveLength(1);
    expect(new Set(sent.map(({ text }) => text)).size).toBe(1);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect(answer).toMatchObject({ status: 409, body: { error: { code: 'idempotency_conflict' } } });
    }
    expect(await books(id)).toMatchObject({ balance: 990, ledger: 990 });
    expect(await storedMessages(id)).toHaveLength(1);
  });
});

describe('a key with the same send in another spelling', () => {
  const [jan, ola] = ['+48500100200', '+48500100201'];
  const send = { to: [jan, ola], text: 'Hej', send_at: later };

  async function newShop() {
    const account = await newAccount({
      senders: ['SKLEP'],
      defaultSender: 'SKLEP',
      sendWindow: '00:00-23:30',
    });
    const contacts = [jan, ola].map((msisdn) => ({ msisdn, groups: ['Klienci'] }));
    expect((await account.api.post('/v1/contacts', contacts)).status).toBe(201);
    const groupId = String((await account.api.get('/v1/groups')).body.data[0]!.id);
    return { ...account, groupId };
  }

  it.each([
    ['numbers', { to: ['500100201', '48500100200', '+48500100200'] }],
    ['its defaults', { from: 'SKLEP', priority: false, send_window: '00:00-23:30', reference: null }],
    ['a group', { to: 'group:Klienci' }],
    ['a group and a member', { to: ['group:klienci', jan] }],
  ])('differing in %s: is a repeat', async (_, other) => {
    const { id, api } = await newShop();
    const first = await api.send(send, 'k');
    const again = await api.send({ ...send, ...other }, 'k');
    expect([again.status, isReplay(again), again.text]).toEqual([201, true, first.text]);
    expect(await storedMessages(id)).toHaveLength(2);
  });

  it.each([
    { to: [jan] },
    { to: [jan, '+48500100202'] },
    { priority: true },
    { from: 'INFO' },
    { send_window: '00:00-23:00' },
    { reference: 'x' },
    { send_at: new Date(Date.parse(later) + 1).toISOString() },
  ])('differing in %j: is another one', async (other) => {
    const { id, api } = await newShop();
    await api.send(send, 'k');
    expect((await api.send({ ...send, ...other }, 'k')).status).toBe(409);
    expect(await storedMessages(id)).toHaveLength(2);
  });

  it('is a repeat as written, whatever has changed since; what resolves to something else is not', async () => {
    const { id, api, groupId } = await newShop();
    const byName = { ...send, to: 'group:Klienci' };
    const first = await api.send(byName, 'k');
    await api.post(`/v1/groups/${groupId}/contacts`, { msisdns: ['+48500100202'] });
    await api.patch('/v1/account', { sender_name: null, send_window: null });
    const again = await api.send(byName, 'k');
    expect([isReplay(again), again.text]).toEqual([true, first.text]);
    expect((await api.send({ ...send, to: [`group:${groupId}`] }, 'k')).status).toBe(409);
    expect(await storedMessages(id)).toHaveLength(2);
  });
});

async function topUp({ id }: TestAccount, grosze: number): Promise<void> {
  await database()`insert into ledger_entries (account_id, kind, amount_grosze) values (${id}, 'topup', ${grosze})`;
}

it('keeps no hash that a guessed number and text could be compared with', async () => {
  const { id, api } = await newAccount();
  await api.send(body, 'k');
  const [{ fingerprint } = {}] = await database()<{ fingerprint: Buffer }[]>`
    select fingerprint from idempotency_keys where account_id = ${id}`;
  const secretsKey = Buffer.from(inject('service').secretsKey, 'base64');
  const content = { ...body, send_at: Date.parse(later), channel: 'sms', interface: 'v2' };
  const written = fingerprint?.subarray(0, 32);
  expect(written).toEqual(fingerprintOf(secretsKey, content));
  expect(fingerprintOf(Buffer.alloc(32), content)).not.toEqual(written);
});
