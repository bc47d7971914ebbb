import { describe, expect, it } from 'vitest';
import { parseSendWindow, firstMomentInside } from '../../domain/sendWindow.ts';
import { newId } from '../../db/ids.ts';
import { eventually } from '../support/eventually.ts';
import {
  books,
  database,
  newAccount,
  storedMessages,
  type TestAccount,
  untilStatus,
} from '../support/factories.ts';
import { refusal } from './refusal.ts';

const PATH = '/v1/voice';
const CALL = { to: '500100200', text: 'Dzień dobry, przypominamy o wizycie.' };
const HOUR = 3_600_000;
const ASKED = 8;

/** `HH:MM` on a Polish clock, so many hours from now. */
const clock = (hours: number) =>
  new Intl.DateTimeFormat('pl-PL', { timeZone: 'Europe/Warsaw', hour: '2-digit', minute: '2-digit' }).format(
    Date.now() + hours * HOUR,
  );
const openingOf = (window: string) => firstMomentInside(Date.now(), parseSendWindow(window)!);

/** Gives the account a simulated route with calling hours; resolves once every API knows it. */
async function callingHours(account: TestAccount, hours: string): Promise<void> {
  const sql = database();
  const name = newId('rt' as never)
    .replace('_', '-')
    .slice(0, 20);
  await sql`insert into routes (name, kind, settings) values (${name}, 'simulator', ${JSON.stringify({ callingHours: hours })}::text::jsonb)`;
  await sql`insert into route_rules (route, account_id, type) values (${name}, ${account.id}, 'vms')`;
  const ask = () => account.api.post(PATH, { ...CALL, to: '500100299' });
  await eventually(
    () => Promise.all(Array.from({ length: ASKED }, ask)),
    (answers) => answers.every(({ body }) => body.status === 'scheduled'),
  );
}

describe('a voice message', () => {
  it('is answered as a Message of its type, charged at its price, and delivered', async () => {
    const account = await newAccount({ balance: 100, vmsPrice: 40 });
    const { status, body } = await account.api.post(PATH, {
      ...CALL,
      voice: 'maja',
      tries: 3,
      reference: 'w-1',
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      ...{ type: 'vms', status: 'queued', to: '+48500100200', from: null, text: CALL.text, subject: null },
      ...{ parts: 1, cost_grosze: 40, priority: false, reference: 'w-1', send_at: null },
    });
    expect(await books(account.id)).toMatchObject({ balance: 60, ledger: 60 });
    const [stored] = await database()`select content from messages where id = ${body.id}`;
    expect(stored).toEqual({ content: { voice: 'maja', tries: 3 } });
    await untilStatus(account, body.id, 'delivered');
    expect((await account.api.get(`/v1/messages/${body.id}`)).body).toMatchObject({
      type: 'vms',
      from: null,
    });
  });

  it('shows a number of the account, and never a name', async () => {
    const account = await newAccount({ senders: ['48221234567', 'SKLEP'], defaultSender: 'SKLEP' });
    const { api } = account;
    expect((await api.post(PATH, { ...CALL, from: '48221234567' })).body.from).toBe('48221234567');
    expect((await api.post(PATH, CALL)).body.from).toBeNull();
    for (const from of ['SKLEP', 'INFO', '48229999999'])
      expect(await api.post(PATH, { ...CALL, from })).toMatchObject(refusal(422, 'from'));
    await database()`update accounts set sender_name = '48221234567' where id = ${account.id}`;
    expect((await api.post(PATH, CALL)).body.from).toBe('48221234567');
  });

  it('abroad needs a price of its own', async () => {
    const account = await newAccount({ balance: 1000, countryRates: { '49': { vms: 70 } } });
    expect(await account.api.post(PATH, { ...CALL, to: '+447911123456' })).toMatchObject({ status: 422 });
    expect(await storedMessages(account.id)).toEqual([]);
    expect((await account.api.post(PATH, { ...CALL, to: '+4915112345678' })).body.cost_grosze).toBe(70);
  });

  it.each([
    ['+48500100902', 1, 'failed'],
    ['+48500100923', 2, 'undelivered'],
    ['+48500100923', 3, 'delivered'],
  ])('to %s with %i tries ends as %s', async (to, tries, status) => {
    const account = await newAccount({ balance: 40, vmsPrice: 40 });
    const { body } = await account.api.post(PATH, { ...CALL, to, tries });
    await untilStatus(account, body.id, status);
    expect((await books(account.id)).balance).toBe(status === 'failed' ? 40 : 0);
  });

  it.each([
    [{ to: '500100200' }, 'text'],
    [{ ...CALL, text: '  ' }, 'text'],
    [{ ...CALL, text: 'ż'.repeat(2_001) }, 'text'],
    [{ ...CALL, text: 'Zobacz {{link:https://example.com}}' }, 'text'],
    [{ ...CALL, text: 'Wypisz się: {{wypisz}}' }, 'text'],
    [{ ...CALL, voice: 'agnieszka' }, 'voice'],
    [{ ...CALL, tries: 0 }, 'tries'],
    [{ ...CALL, tries: 7 }, 'tries'],
    [{ ...CALL, smil: '<smil/>' }, 'smil'],
  ])('%j is refused, and nothing is left of it', async (body, param) => {
    const account = await newAccount({ balance: 1000 });
    const answer = await account.api.post(PATH, body);
    expect(answer).toMatchObject(refusal(400, param));
    // A number is neither short nor long.
    if (param === 'tries') expect(answer.body.error.message).toMatch(/musi (?:wynosić|być liczbą)/);
    expect(await storedMessages(account.id)).toEqual([]);
  });

  it('takes 2,000 characters and six tries; an emoji counts once, written and filled in', async () => {
    const { api } = await newAccount({ balance: 1000 });
    const text = '😀'.repeat(2_000);
    expect(await api.post(PATH, { ...CALL, text, tries: 6 })).toMatchObject({ status: 201, body: { text } });
    expect((await api.post(PATH, { ...CALL, text: `${text}a` })).body.error).toMatchObject({ param: 'text' });
    await api.post('/v1/contacts', [{ msisdn: CALL.to, first_name: '😀'.repeat(9) }]);
    const filled = async (letters: number) =>
      (await api.post(PATH, { ...CALL, text: `${'😀'.repeat(letters)}{{imie}}` })).status;
    expect([await filled(1_991), await filled(1_992)]).toEqual([201, 400]);
  });
});

describe('calling hours of a route', () => {
  it('make a call wait for them, and send_at says so; an SMS does not wait', async () => {
    const account = await newAccount({ balance: 100_000 });
    const hours = `${clock(2)}-${clock(4)}`;
    await callingHours(account, hours);
    const { body } = await account.api.post(PATH, CALL);
    expect(body).toMatchObject({ status: 'scheduled' });
    expect(Math.abs(Date.parse(body.send_at) - openingOf(hours))).toBeLessThan(1_000);
    expect((await account.api.send({ to: '500100200', text: 'x' })).body.status).toBe('queued');
    expect((await account.api.delete(`/v1/messages/${body.id}`)).body.status).toBe('cancelled');
  });

  it('and a window of the message hold together', async () => {
    const account = await newAccount({ balance: 100_000 });
    await callingHours(account, `${clock(2)}-${clock(6)}`);
    const { body } = await account.api.post(PATH, { ...CALL, send_window: `${clock(3)}-${clock(8)}` });
    expect(Math.abs(Date.parse(body.send_at) - openingOf(`${clock(3)}-${clock(8)}`))).toBeLessThan(1_000);
    const never = await account.api.post(PATH, { ...CALL, send_window: `${clock(7)}-${clock(8)}` });
    expect(never).toMatchObject(refusal(422, 'send_window'));
  });

  it('are not looked at for who is on the blacklist', async () => {
    const account = await newAccount({ balance: 100_000 });
    await callingHours(account, `${clock(2)}-${clock(2.3)}`);
    await account.api.post('/v1/blacklist', { msisdn: '500100200' });
    // Too many tries for these hours, and the end before they open.
    const expiresAt = new Date(Date.now() + HOUR).toISOString();
    const rejected = await account.api.post(PATH, { ...CALL, tries: 6, expires_at: expiresAt });
    expect(rejected).toMatchObject({ status: 201, body: { status: 'rejected', send_at: null } });
  });

  it('have to hold all tries', async () => {
    const account = await newAccount({ balance: 100_000 });
    const hours = `${clock(2)}-${clock(2.3)}`;
    await callingHours(account, hours);
    // A quarter of an hour and three minutes: three tries, five minutes apart, but not six.
    expect((await account.api.post(PATH, { ...CALL, tries: 3 })).body.status).toBe('scheduled');
    const tooMany = await account.api.post(PATH, { ...CALL, tries: 6 });
    expect(tooMany).toMatchObject(refusal(422, 'tries'));
  });
});
