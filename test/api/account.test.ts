import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { RunningApi } from '../../api/server.ts';
import { decrypt, DecryptionError, encrypt } from '../../db/installation.ts';
import { apiClient } from '../support/client.ts';
import { database, newAccount } from '../support/factories.ts';
import { startOwnApi } from '../support/ownApi.ts';
import { startReceiver } from '../support/webhookReceiver.ts';
import { refusal } from './refusal.ts';

describe('GET /v1/account', () => {
  it('shows every field of an account', async () => {
    const countryRates = { 49: { sms: 25, mms: 90, vms: 60 }, 420: { mms: 80 } };
    const { id, api } = await newAccount({ balance: 500, price: 14, countryRates, scopes: ['read'] });
    const { status, body } = await api.get('/v1/account');
    expect(status).toBe(200);
    expect(body).toEqual({
      ...{ id, name: 'Test', sender_name: null, balance_grosze: 500, credit_limit_grosze: 0 },
      ...{
        price_per_part_grosze: 14,
        price_per_mms_grosze: 60,
        price_per_vms_grosze: 40,
        price_per_hlr_grosze: 5,
      },
      ...{
        rate_limit_per_minute: 100_000,
        webhook_url: null,
        status: 'active',
        mode: 'live',
        test_credits: 0,
      },
      ...{ send_window: null, billing_mode: 'prepaid', inbound_number: null, inbound_prefix: null },
      ...{ scopes: ['read'], country_rates: countryRates, international_sms: { price_per_part_grosze: 28 } },
    });
  });

  it('follows the balance', async () => {
    const { api } = await newAccount({ balance: 100, price: 10 });
    await api.accepted({ to: '500100200', text: 'x' });
    expect((await api.get('/v1/account')).body).toMatchObject({ balance_grosze: 90 });
  });
});

describe('PATCH /v1/account', () => {
  it('answers the id and what was changed; null takes a setting away', async () => {
    const { id, api } = await newAccount({ senders: ['SKLEP'] });
    const prefix = `K${id.slice(-6)}`;
    const all = { sender_name: 'SKLEP', send_window: '22:00-06:00', inbound_prefix: prefix };
    expect((await api.patch('/v1/account', all)).body).toEqual({
      id,
      ...all,
      inbound_prefix: prefix.toUpperCase(),
    });
    expect((await api.patch('/v1/account', { send_window: null })).body).toEqual({ id, send_window: null });
    expect((await api.get('/v1/account')).body).toMatchObject({
      ...{ sender_name: 'SKLEP', send_window: null, inbound_prefix: prefix.toUpperCase() },
    });
    const none = { sender_name: null, inbound_prefix: null };
    expect((await api.patch('/v1/account', none)).body).toEqual({ id, ...none });
  });

  it.each([
    [{}, undefined],
    [{ name: 'Inna' }, 'name'],
    [{ send_window: '8-20' }, 'send_window'],
    [{ send_window: 5 }, 'send_window'],
    [{ sender_name: ['A'] }, 'sender_name'],
    [{ sender_name: 'A'.repeat(101) }, 'sender_name'],
    [{ inbound_prefix: 'A' }, 'inbound_prefix'],
    [{ inbound_prefix: 'ABCDEFGHIJK' }, 'inbound_prefix'],
    [{ tool_confirm_recipients: -1 }, 'tool_confirm_recipients'],
    [{ tool_confirm_recipients: 11 }, 'tool_confirm_recipients'],
    [{ tool_confirm_grosze: 501 }, 'tool_confirm_grosze'],
  ])('%j gives 400', async (body, param) => {
    const { api } = await newAccount();
    const answer = await api.patch('/v1/account', body);
    expect([answer.status, answer.body.error.param]).toEqual([400, param]);
  });

  it('lowers what a send through a tool may come to, as far as nothing; null gives it back', async () => {
    const { id, api } = await newAccount();
    const lower = { tool_confirm_recipients: 0, tool_confirm_grosze: 500 };
    expect((await api.patch('/v1/account', lower)).body).toEqual({ id, ...lower });
    const refused = await api.patch('/v1/account', { tool_confirm_recipients: 5, tool_confirm_grosze: 501 });
    expect(refused.body.error).toMatchObject({
      param: 'tool_confirm_grosze',
      message: expect.stringContaining('500') as string,
    });
    const stored = () => database()`
      select tool_confirm_recipients as recipients, tool_confirm_grosze as grosze from accounts where id = ${id}`;
    expect([...(await stored())]).toEqual([{ recipients: 0, grosze: 500 }]);
    const none = { tool_confirm_recipients: null, tool_confirm_grosze: null };
    expect((await api.patch('/v1/account', none)).body).toEqual({ id, ...none });
    expect([...(await stored())]).toEqual([{ recipients: null, grosze: null }]);
  });

  it.each(['qx', 'QXQXQXQXQ9'])('the inbound prefix %s is taken: 2 to 10 letters or digits', async (word) => {
    const { api } = await newAccount();
    const { status, body } = await api.patch('/v1/account', { inbound_prefix: word });
    expect([status, body]).toMatchObject([200, { inbound_prefix: word.toUpperCase() }]);
    expect((await api.get('/v1/account')).body).toMatchObject({ inbound_prefix: word.toUpperCase() });
  });

  it('an inactive sender gives 422 and changes nothing', async () => {
    const { id, api } = await newAccount({ senders: ['STARY'] });
    await database()`update senders set active = false where account_id = ${id}`;
    for (const sender_name of ['OBCY', 'STARY', '', 'Żabka', 'DLUZSZYODKAZDEGO', "' or true --"]) {
      expect(await api.patch('/v1/account', { sender_name, send_window: '08:00-20:00' })).toMatchObject(
        refusal(422, 'sender_name'),
      );
    }
    expect((await api.get('/v1/account')).body).toMatchObject({ sender_name: null, send_window: null });
  });

  it('a taken inbound prefix gives 409 in any case of letters; its owner may set it again', async () => {
    const [one, other] = await Promise.all([newAccount(), newAccount()]);
    const prefix = `P${one.id.slice(-7)}`;
    expect((await one.api.patch('/v1/account', { inbound_prefix: prefix })).status).toBe(200);
    expect((await one.api.patch('/v1/account', { inbound_prefix: prefix })).status).toBe(200);
    const answer = await other.api.patch('/v1/account', { inbound_prefix: prefix.toLowerCase() });
    expect(answer).toMatchObject(refusal(409, 'inbound_prefix'));
  });
});

describe('GET /v1/senders', () => {
  it('lists active senders and the one in effect', async () => {
    const { id, api } = await newAccount({ senders: ['SKLEP', 'ALFA'], defaultSender: 'SKLEP' });
    const data = [
      { name: 'ALFA', is_default: false },
      { name: 'SKLEP', is_default: true },
    ];
    expect((await api.get('/v1/senders')).body).toEqual({ data, current: 'SKLEP' });
    await database()`update senders set active = false where account_id = ${id} and name = 'SKLEP'`;
    expect((await api.get('/v1/senders')).body).toEqual({ data: [data[0]], current: 'INFO' });
  });
});

describe('PUT /v1/account/webhook', () => {
  it('makes a secret once, keeps it, and makes a new one when asked; it is stored encrypted', async () => {
    const { id, api } = await newAccount();
    const first = await api.put('/v1/account/webhook', { url: 'https://example.com/hook' });
    expect(first.body).toEqual({
      webhook_url: 'https://example.com/hook',
      webhook_secret: expect.stringMatching(/^whsec_[\w-]{43}$/) as string,
      signature_header: 'X-Service-Signature',
    });
    const secret = first.body.webhook_secret;
    const off = await api.put('/v1/account/webhook', { url: null, rotate_secret: false });
    expect(off.body).toMatchObject({ webhook_url: null, webhook_secret: secret });
    expect((await api.get('/v1/account')).body.webhook_url).toBeNull();
    const rotated = await api.put('/v1/account/webhook', {
      url: 'https://example.com/2',
      rotate_secret: true,
    });
    expect(rotated.body.webhook_secret).not.toBe(secret);
    expect((await api.get('/v1/account')).body.webhook_url).toBe('https://example.com/2');
    const [row] = await database()<{ webhookSecret: Buffer }[]>`
      select webhook_secret from accounts where id = ${id}`;
    expect(row!.webhookSecret.includes(rotated.body.webhook_secret)).toBe(false);
    const key = Buffer.from(inject('service').secretsKey, 'base64');
    expect(decrypt(key, id, row!.webhookSecret)).toBe(rotated.body.webhook_secret);
  });

  it('several first calls at once agree on one secret', async () => {
    const { api } = await newAccount();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => api.put('/v1/account/webhook', { url: 'https://example.com' })),
    );
    expect(new Set(answers.map(({ body }) => body.webhook_secret)).size).toBe(1);
  });

  it.each([
    [{}, 'url'],
    [{ url: 'example.com' }, 'url'],
    [{ url: 'ftp://example.com' }, 'url'],
    [{ url: 'https://user:pass@example.com' }, 'url'],
    [{ url: `https://example.com/${'x'.repeat(2048)}` }, 'url'],
    [{ url: 'https://example.com', rotate_secret: 'yes' }, 'rotate_secret'],
    [{ url: 'https://example.com', secret: 'mine' }, 'secret'],
  ])('%j gives 400', async (body, param) => {
    const { api } = await newAccount();
    expect(await api.put('/v1/account/webhook', body)).toMatchObject(refusal(400, param));
  });

  it('the receiver gets signed events of a message, in order', async () => {
    const receiver = await startReceiver();
    try {
      const { api } = await newAccount();
      receiver.useSecret((await api.put('/v1/account/webhook', { url: receiver.url })).body.webhook_secret);
      const body = await api.accepted({ to: '500100200', text: 'Zażółć', reference: 'r-1' });
      const calls = await receiver.until((all) => all.length >= 2);
      expect(calls.map(({ event, verified }) => [event.type, verified])).toEqual([
        ['message.sent', true],
        ['message.delivered', true],
      ]);
      const last = calls[1]!.event;
      expect(Object.keys(last)).toEqual(['id', 'type', 'created_at', 'data']);
      expect(last.data.message).toMatchObject({
        id: body.id,
        status: 'delivered',
        text: 'Zażółć',
        reference: 'r-1',
      });
      expect(Object.keys(last.data.message)).toEqual(Object.keys(body));
    } finally {
      await receiver.close();
    }
  });

  describe('where private addresses are not allowed', () => {
    let strict: RunningApi;
    beforeAll(async () => {
      strict = await startOwnApi({ config: { WEBHOOK_ALLOW_PRIVATE: false } });
    });
    afterAll(() => strict.stop());

    it.each(['http://example.com', 'https://127.0.0.1', 'https://intranet', 'https://example.com:6379'])(
      '%s gives 400',
      async (url) => {
        const { key } = await newAccount();
        const answer = await apiClient(strict.url, key).put('/v1/account/webhook', { url });
        expect(answer).toMatchObject(refusal(400, 'url'));
      },
    );

    it.each(['https://example.com:8443/a?b=c', 'https://[2606:4700::1]/'])(
      '%s is taken as it is',
      async (url) => {
        const { key } = await newAccount();
        const answer = await apiClient(strict.url, key).put('/v1/account/webhook', { url });
        expect(answer.body.webhook_url).toBe(url);
      },
    );
  });
});

describe('encryption of secrets', () => {
  const key = randomBytes(32);

  it('gives back the text to the same key and owner only', () => {
    const stored = encrypt(key, 'cl_1', 'whsec_ż');
    expect(decrypt(key, 'cl_1', stored)).toBe('whsec_ż');
    expect(encrypt(key, 'cl_1', 'whsec_ż').equals(stored)).toBe(false);
    expect(() => decrypt(randomBytes(32), 'cl_1', stored)).toThrow(DecryptionError);
    expect(() => decrypt(key, 'cl_2', stored)).toThrow(DecryptionError);
  });
});
