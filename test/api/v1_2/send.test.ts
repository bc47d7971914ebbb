import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { sealCredentials } from '../../../db/routes/routes.ts';
import { json, startProvider } from '../../smsapi/provider.ts';
import { decided } from '../../support/decided.ts';
import { eventually } from '../../support/eventually.ts';
import { type EarlierAccount, newEarlierAccount, newToken } from '../../support/earlierClient.ts';
import { books, database, storedMessages, untilStatus } from '../../support/factories.ts';

const DAY = 24 * 3_600_000;
const ahead = (ms: number) => new Date(Date.now() + ms).toISOString();
const SMS = { to: '+48500100200', message: 'Hej' };
/** A window of an hour that begins in twelve. */
function windowAway(): string {
  const hour = (plus: number) => String((new Date().getHours() + plus) % 24).padStart(2, '0');
  return `${hour(12)}:00-${hour(13)}:00`;
}
const textOf = async ({ api }: EarlierAccount, id: string) => (await api.get(`/v1/messages/${id}`)).body.text;

describe('POST /v1/sms', () => {
  it('answers with the list of one message, charges it, and delivers it', async () => {
    const account = await newEarlierAccount({ balance: 100, price: 15 });
    const { status, body } = await account.v1.post('/v1/sms', SMS);
    expect(status).toBe(200);
    const [message] = body.data.messages;
    expect(body).toEqual({
      success: true,
      data: {
        count: 1,
        messages: [
          { id: message!.id, to: '+48500100200', status: 'queued', parts: 1, cost: 15, sent_at: null },
        ],
      },
    });
    expect((await books(account.id)).balance).toBe(85);
    await untilStatus(account, message!.id, 'delivered');
  });

  it('sends the text as it is written: braces and links are text', async () => {
    const account = await newEarlierAccount();
    const message = '{{imie}} {{link:https://example.com}} {{wypisz}} {{';
    const { body } = await account.v1.post('/v1/sms', { ...SMS, message });
    expect(await textOf(account, body.data.messages[0]!.id)).toBe(message);
  });

  it.each([
    ['a'.repeat(70), {}, 1],
    ['a'.repeat(71), {}, 2],
    ['a'.repeat(160), { encoding: 'gsm' }, 1],
    ['a'.repeat(161), { encoding: 'gsm' }, 2],
    // The header that joins them takes 3 or 7 characters of each part.
    ['a'.repeat(134), {}, 2],
    ['a'.repeat(135), {}, 3],
    ['a'.repeat(306), { encoding: 'gsm' }, 2],
    ['a'.repeat(307), { encoding: 'gsm' }, 3],
    ['ż'.repeat(160), { normalize: true }, 1],
    ['ż'.repeat(70), { flash: true }, 1],
  ])('counts %s with %j as %i', async (message, more, parts) => {
    const { v1 } = await newEarlierAccount({ price: 10 });
    const { body } = await v1.post('/v1/sms', { ...SMS, message, ...more });
    expect(body.data.messages).toMatchObject([{ parts, cost: 10 * parts }]);
  });

  it('normalizes what it stores', async () => {
    const account = await newEarlierAccount();
    const { body } = await account.v1.post('/v1/sms', {
      ...SMS,
      message: 'Zażółć gęślą jaźń',
      normalize: true,
    });
    expect(await textOf(account, body.data.messages[0]!.id)).toBe('Zazolc gesla jazn');
  });

  it('takes a date at most 60 days ahead, and one in the past as now', async () => {
    const account = await newEarlierAccount();
    const later = await account.v1.post('/v1/sms', { ...SMS, date: ahead(60 * DAY - 60_000) });
    expect(later.body.data.messages).toMatchObject([{ status: 'queued', sent_at: null }]);
    expect((await account.api.get(`/v1/messages/${later.body.data.messages[0]!.id}`)).body.status).toBe(
      'scheduled',
    );
    expect(await account.v1.post('/v1/sms', { ...SMS, date: ahead(-DAY) })).toMatchObject({ status: 200 });
    expect(await account.v1.post('/v1/sms', { ...SMS, date: ahead(60 * DAY + 60_000) })).toMatchObject({
      status: 422,
      body: {
        error: { details: { field: 'date' }, message: 'Wysyłkę można zaplanować najwyżej 60 dni naprzód.' },
      },
    });
  });

  it('without a date is sent at once, whatever window the current interface has', async () => {
    const account = await newEarlierAccount({ sendWindow: windowAway() });
    const current = await account.api.send({ to: SMS.to, text: 'Hej' });
    expect(current.body.status).toBe('scheduled');
    const sent = [
      await account.v1.post('/v1/sms', SMS),
      await account.v1.post('/v1/sms/bulk', { messages: [SMS] }),
      await account.v1.post('/v1/sms/bulk', { recipients: [SMS.to], message: 'Hej' }),
    ];
    for (const { body } of sent) await untilStatus(account, body.data.messages[0]!.id, 'delivered');
  });

  it.each([
    [{ message: 'x' }, 'to'],
    [{ to: '+48500100200' }, 'message'],
    [{ ...SMS, to: 'group:Klienci' }, 'to'],
    [{ ...SMS, to: '+4850010020' }, 'to'],
    [{ ...SMS, message: '  ' }, 'message'],
    [{ ...SMS, message: 'a'.repeat(67 * 20 + 1) }, 'message'],
    [{ ...SMS, message: 'ż', encoding: 'gsm' }, 'message'],
    [{ ...SMS, from: 'DWANASCIE_ZN' }, 'from'],
    [{ ...SMS, from: 'OBCY' }, 'from'],
    [{ ...SMS, date: 'jutro' }, 'date'],
    [{ ...SMS, encoding: 'ucs2' }, 'encoding'],
    [{ ...SMS, flash: 'tak' }, 'flash'],
    [{ ...SMS, idx: 'a'.repeat(256) }, 'idx'],
    [{ ...SMS, text: 'x' }, 'text'],
    [[], null],
  ])('%j is refused with 422 that names the field, and nothing is left of it', async (body, field) => {
    const account = await newEarlierAccount({ balance: 1000 });
    const answer = await account.v1.post('/v1/sms', body);
    expect(answer.status).toBe(422);
    expect(answer.body.error.details).toEqual(field === null ? null : { field });
    expect(await storedMessages(account.id)).toEqual([]);
  });

  it('without money is refused with 402', async () => {
    const account = await newEarlierAccount({ balance: 9, price: 10 });
    expect((await account.v1.post('/v1/sms', SMS)).status).toBe(402);
    expect(await storedMessages(account.id)).toEqual([]);
  });
});

describe('idx', () => {
  it('sends an item once in 24 hours, for the account and the channel', async () => {
    const account = await newEarlierAccount({ balance: 1000, price: 10 });
    const item = { ...SMS, idx: 'zam-1' };
    const first = await account.v1.post('/v1/sms', item);
    // Another token of the account, and another way to write the same number.
    const { v1: other } = await newToken(account.id);
    const again = { idx: 'zam-1', message: 'Hej', to: '500100200' };
    const defaults = { from: 'INFO', encoding: 'utf-8', flash: false, normalize: false };
    for (const more of [{ from: null }, defaults]) {
      const { body, headers } = await other.post('/v1/sms', { ...again, ...more });
      expect(body).toEqual(first.body);
      expect(headers.get('idempotent-replayed')).toBe('true');
    }
    for (const more of [{ flash: true }, { encoding: 'gsm' }, { date: ahead(DAY) }])
      expect((await other.post('/v1/sms', { ...again, ...more })).status).toBe(422);
    expect(await storedMessages(account.id)).toHaveLength(1);
    expect((await books(account.id)).balance).toBe(990);

    const different = await account.v1.post('/v1/sms', { ...item, message: 'Co innego' });
    expect(different.status).toBe(422);
    expect(different.body.error).toMatchObject({
      message: 'To „idx” albo „Idempotency-Key” miała już inna wysyłka z ostatnich 24 godzin.',
      details: { field: 'idx' },
    });
    const call = { to: SMS.to, tts: 'Hej' };
    expect((await account.v1.post('/v1/vms', call)).status).toBe(200);
    const stranger = await newEarlierAccount();
    expect((await stranger.v1.post('/v1/sms', { ...item, message: 'Co innego' })).status).toBe(200);

    await database()`update idempotency_keys set created_at = now() - interval '24 hours' where account_id = ${account.id}`;
    expect((await account.v1.post('/v1/sms', item)).body.data.messages[0]!.id).not.toBe(
      first.body.data.messages[0]!.id,
    );
  });

  it.each([
    ['/v1/sms', SMS, { message: 'x' }],
    ['/v1/sms', { ...SMS, idx: 'a' }, { idx: 'b' }],
    ['/v1/sms/bulk', { recipients: [SMS.to, '500100201'], message: 'Hej' }, { message: 'x' }],
    ['/v1/sms/bulk', { messages: [SMS, { ...SMS, idx: 'a' }] }, { messages: [SMS] }],
    ['/v1/vms', { to: SMS.to, tts: 'Hej' }, { tries: 2 }],
  ])('or an Idempotency-Key: POST %s of %j is sent once', async (path, body, other) => {
    const account = await newEarlierAccount();
    const post = (sent: object, key: string) => account.v1.post(path, sent, { 'idempotency-key': key });
    const [first, ...more] = await Promise.all([1, 2, 3].map(() => decided(() => post(body, 'k'))));
    const { messages } = first!.body.data;
    for (const answer of [...more, await post(body, 'k')])
      expect(answer.body.data.messages).toEqual(messages);
    expect((await post(body, 'k')).headers.get('idempotent-replayed')).toBe('true');
    expect(await storedMessages(account.id)).toHaveLength(messages.length);
    expect(await post({ ...body, ...other }, 'k')).toMatchObject({
      status: 422,
      body: { error: { details: null } },
    });
    expect(await post(body, '')).toMatchObject({ status: 422 });
    expect(await storedMessages(account.id)).toHaveLength(messages.length);
  });

  it('is no Idempotency-Key, and cannot be one', async () => {
    const { api, v1 } = await newEarlierAccount();
    await v1.post('/v1/sms', { ...SMS, idx: 'a' });
    const current = await api.send({ to: '500100200', text: 'x' }, 'a');
    expect(current.status).toBe(201);
    expect(current.headers.get('idempotent-replayed')).toBeNull();
  });

  it('of many at once is sent once', async () => {
    const account = await newEarlierAccount({ balance: 1000, price: 10 });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => account.v1.post('/v1/sms', { ...SMS, idx: 'raz' })),
    );
    const taken = answers.filter(({ status }) => status === 200);
    expect(taken.length).toBeGreaterThan(0);
    expect(new Set(taken.map(({ body }) => body.data.messages[0]!.id)).size).toBe(1);
    for (const { status, headers } of answers.filter(({ status }) => status !== 200)) {
      expect(status).toBe(429);
      expect(headers.get('retry-after')).toBe('1');
    }
    expect(await storedMessages(account.id)).toHaveLength(1);
  });
});

describe('POST /v1/mms and /v1/vms', () => {
  const smil = '<smil><body><img src="https://cdn.example.com/a.jpg"/></body></smil>';

  it('send an MMS', async () => {
    const account = await newEarlierAccount({ balance: 100, mmsPrice: 60 });
    const { body } = await account.v1.post('/v1/mms', { to: SMS.to, subject: 'Oferta', smil });
    expect(body.data.messages).toMatchObject([{ status: 'queued', parts: 1, cost: 60 }]);
    expect((await account.api.get(`/v1/messages/${body.data.messages[0]!.id}`)).body).toMatchObject({
      type: 'mms',
      subject: 'Oferta',
    });
    await untilStatus(account, body.data.messages[0]!.id, 'delivered');
  });

  it('send an MMS with braces wherever they stand, which mean nothing here', async () => {
    const account = await newEarlierAccount({ balance: 100 });
    const braces =
      '<smil><body><img src="https://cdn.example.com/{{a}}.jpg" alt="{{imie}}"/><text>{{link:</text></body></smil>';
    const { status, body } = await account.v1.post('/v1/mms', { to: SMS.to, subject: 'x', smil: braces });
    expect(status).toBe(200);
    const { id } = body.data.messages[0]!;
    expect((await account.api.get(`/v1/messages/${id}`)).body.text).toBe(braces);
  });

  it('order a call', async () => {
    const account = await newEarlierAccount({ balance: 100, vmsPrice: 40, senders: ['48221234567'] });
    const call = {
      to: SMS.to,
      tts: 'Dzień dobry {{imie}}',
      tts_lector: 'jan',
      tries: 2,
      from: '+48221234567',
    };
    const { body } = await account.v1.post('/v1/vms', call);
    expect(body.data.messages).toMatchObject([{ cost: 40 }]);
    const [stored] =
      await database()`select text, content, sender from messages where id = ${body.data.messages[0]!.id}`;
    expect(stored).toEqual({ text: call.tts, content: { voice: 'jan', tries: 2 }, sender: '48221234567' });
  });

  it.each([
    ['/v1/mms', { to: SMS.to, smil }, 'subject'],
    ['/v1/mms', { to: SMS.to, subject: 'x', smil: 'x' }, 'smil'],
    ['/v1/mms', { to: '+4915112345678', subject: 'x', smil }, 'to'],
    ['/v1/vms', { to: SMS.to, tts: ' ' }, 'tts'],
    ['/v1/vms', { to: SMS.to, tts: 'x', tts_lector: 'ania' }, 'tts_lector'],
    ['/v1/vms', { to: SMS.to, tts: 'x', tries: 0 }, 'tries', 'Pole „tries” musi wynosić co najmniej 1.'],
    ['/v1/vms', { to: SMS.to, tts: 'x', tries: 7 }, 'tries', 'Pole „tries” musi wynosić najwyżej 6.'],
    [
      '/v1/vms',
      { to: SMS.to, tts: 'x', from: 'SKLEP' },
      'from',
      'Rozmowa może wychodzić tylko z numeru, a nadawca „SKLEP” jest nazwą.',
    ],
    [
      '/v1/vms',
      { to: SMS.to, tts: 'x', from: '48229999999' },
      'from',
      'Nadawca „48229999999” nie jest aktywny na liście nadawców konta.',
    ],
  ])('%s refuses %j with 422', async (path, body, field, message: string | undefined = undefined) => {
    const account = await newEarlierAccount({ senders: ['SKLEP'] });
    const answer = await account.v1.post(path, body);
    expect(answer).toMatchObject({ status: 422, body: { error: { details: { field } } } });
    if (message !== undefined) expect(answer.body.error.message).toBe(message);
    expect(await storedMessages(account.id)).toEqual([]);
  });
});

describe('GET /v1/balance and /v1/hlr', () => {
  it('shows the balance in PLN and in grosze', async () => {
    const { v1 } = await newEarlierAccount({ balance: 12_345 });
    expect((await v1.get('/v1/balance')).body.data).toEqual({
      ...{ balance: 123.45, balance_grosze: 12_345, credit_limit_grosze: 0 },
      ...{ currency: 'PLN', billing_mode: 'prepaid', username: null },
    });
    const postpaid = await newEarlierAccount({ balance: -50, billing: 'postpaid', creditLimit: 1000 });
    expect((await postpaid.v1.get('/v1/balance')).body.data).toMatchObject({
      ...{ balance: -0.5, balance_grosze: -50, credit_limit_grosze: 1000, billing_mode: 'postpaid' },
    });
  });

  it('shows the balance at the provider of an account that was not migrated', async () => {
    const account = await newEarlierAccount({ balance: 12_345 });
    const sql = database();
    await sql`update accounts set legacy_proxy = true where id = ${account.id}`;
    // The simulated network has no balance.
    expect(await account.v1.get('/v1/balance')).toMatchObject({
      status: 403,
      body: { error: { code: 403 } },
    });
    const provider = await startProvider();
    onTestFinished(() => provider.close());
    provider.points = 87.5;
    const name = `proxy-${account.id.slice(-8)}`;
    const credentials = { token: provider.token, callbackSecret: 'a'.repeat(32) };
    const { secretsKey } = inject('service');
    const sealed = sealCredentials(Buffer.from(secretsKey, 'base64'), name, credentials);
    await sql`insert into routes (name, kind, state, settings, credentials)
              values (${name}, 'smsapi', 'active', ${JSON.stringify({ url: provider.url })}::text::jsonb, ${sealed})`;
    await sql`insert into route_rules (route, account_id) values (${name}, ${account.id})`;
    onTestFinished(async () => {
      await sql`update routes set state = 'disabled' where name = ${name}`;
    });
    const known = await eventually(
      () => account.v1.get('/v1/balance'),
      ({ status }) => status === 200,
    );
    expect(known.body.data).toEqual({ balance: 87.5, currency: 'PLN', username: 'firma' });
    // A route that another account uses as well is not the account's own.
    const other = await newEarlierAccount();
    await sql`insert into route_rules (route, account_id, type) values (${name}, ${other.id}, 'mms')`;
    await eventually(
      () => account.v1.get('/v1/balance'),
      ({ status }) => status === 403,
    );
    await sql`delete from route_rules where route = ${name} and account_id = ${other.id}`;
    await eventually(
      () => account.v1.get('/v1/balance'),
      ({ status }) => status === 200,
    );
    provider.always((response) => json(response, 500, {}));
    expect((await account.v1.get('/v1/balance')).status).toBe(502);
  });

  it.each([
    ['500100204', { status: 'ok', ported: false, network: 'Orange', country: 'PL' }],
    ['48500100912', { status: 'incorrect', network: null, country: 'PL' }],
    ['48500100914', { status: 'ok', ported: true }],
  ])('looks %s up', async (number, expected) => {
    const account = await newEarlierAccount({ balance: 100 });
    const { status, body } = await decided(() => account.v1.get(`/v1/hlr?number=${number}`));
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ ...expected, cost: 100 - (await books(account.id)).balance });
    // Known for a day, and then free.
    expect((await account.v1.get(`/v1/hlr?number=${number}`)).body.data).toMatchObject({
      ...expected,
      cost: 0,
    });
  });

  it.each([
    ['/v1/hlr', 422, 'number'],
    ['/v1/hlr?number=abc', 422, 'number'],
    ['/v1/hlr?number=48500100915', 502, undefined],
    ['/v1/balance?x=1', 422, 'x'],
  ])('%s is refused with %i', async (path, status, field) => {
    const { v1 } = await newEarlierAccount();
    const answer = await v1.get(path);
    expect(answer.status).toBe(status);
    expect(answer.body.error.details?.field).toBe(field);
  });
});
