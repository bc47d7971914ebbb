import { describe, expect, it } from 'vitest';
import { newId } from '../../db/ids.ts';
import { decided } from '../support/decided.ts';
import { SHORT_URL } from '../support/service.ts';
import { books, database, newAccount, storedMessages } from '../support/factories.ts';

const HOST = SHORT_URL.replace('https://', '');
const PATH = '/v1/messages/estimate';
const later = new Date(Date.now() + 86_400_000).toISOString();

/** What an estimate says and a send shows alike. */
const shared = ({ to, from, status, parts, cost_grosze, send_at, expires_at }: Record<string, unknown>) => ({
  ...{ to, from, status, parts, cost_grosze, send_at, expires_at },
});

describe('POST /v1/messages/estimate', () => {
  it('tells for each recipient the text, its parts, cost and time, and the total', async () => {
    const account = await newAccount({ price: 10, balance: 100 });
    const { api } = account;
    await api.post('/v1/contacts', { msisdn: '500100201', first_name: 'Żaneta', groups: ['VIP'] });
    await api.post('/v1/blacklist', { msisdn: '500100203' });
    const body = {
      to: ['group:VIP', '+4915112345678', '500100203'],
      text: 'Hej {{imie}} {{link:https://a.pl}} {{opt_out}}',
      priority: true,
      send_at: later,
    };
    const { status, body: estimate } = await api.post(PATH, body);
    expect(status).toBe(200);
    const links = `${HOST}/l/XXXXXXXX ${HOST}/o/XXXXXXXXXX`;
    const send_at = new Date(later).toISOString();
    const common = { from: 'INFO', priority: true, parts: 1, expires_at: null, error: null, non_gsm7: null };
    expect(estimate).toEqual({
      count: 3,
      accepted: 2,
      total_parts: 2,
      total_cost_grosze: 60,
      sufficient_funds: true,
      messages: [
        {
          ...{
            ...common,
            to: '+48500100201',
            status: 'scheduled',
            text: `Hej Żaneta ${links}`,
            encoding: 'ucs2',
            non_gsm7: { character: 'Ż', code_point: 'U+017B', position: 5 },
          },
          ...{ price_per_part_grosze: 20, cost_grosze: 20, send_at },
        },
        {
          ...{
            ...common,
            to: '+4915112345678',
            status: 'scheduled',
            text: `Hej  ${links}`,
            encoding: 'gsm7',
          },
          ...{ price_per_part_grosze: 40, cost_grosze: 40, send_at },
        },
        {
          ...{ ...common, to: '+48500100203', status: 'rejected', text: `Hej  ${links}`, encoding: 'gsm7' },
          ...{ price_per_part_grosze: 20, cost_grosze: 0, send_at: null },
          error: expect.stringMatching(/czarnej liście/) as string,
        },
      ],
    });
    const sent = await api.accepted(body);
    expect(sent.messages.map((message) => shared({ ...message }))).toEqual(
      estimate.messages.map((message) => shared({ ...message })),
    );
    expect(sent.messages.map(({ text }) => text.length)).toEqual(
      estimate.messages.map(({ text }) => text.length),
    );
  });

  it('writes, charges and sends nothing', async () => {
    const account = await newAccount({ balance: 100 });
    await account.api.post(PATH, { to: '500100201', text: '{{link:https://a.pl}} {{opt_out}}' });
    expect(await storedMessages(account.id)).toEqual([]);
    expect(await books(account.id)).toMatchObject({ balance: 100 });
    for (const table of ['tracked_links', 'opt_out_links', 'idempotency_keys']) {
      const rows = await database()`select from ${database()(table)} where account_id = ${account.id}`;
      expect(rows, table).toHaveLength(0);
    }
  });

  it('says whether the balance would do, and whether the account is a test account', async () => {
    const poor = await newAccount({ balance: 9, price: 10 });
    const { body } = await poor.api.post(PATH, { to: '500100201', text: 'x' });
    expect(body).toMatchObject({ sufficient_funds: false, total_cost_grosze: 10 });
    const postpaid = await newAccount({ balance: 0, billing: 'postpaid', creditLimit: 10, price: 10 });
    expect((await postpaid.api.post(PATH, { to: '500100201', text: 'x' })).body).toMatchObject({
      sufficient_funds: true,
    });
    await database()`
      insert into statements (id, account_id, month, amount_grosze, due_at)
      values (${newId('st')}, ${postpaid.id}, '2026-01-01', 100, now() - interval '1 day')`;
    expect((await postpaid.api.post(PATH, { to: '500100201', text: 'x' })).body).toMatchObject({
      sufficient_funds: false,
    });
    const verified = ['+48500100201', '+48500100202'];
    const test = await newAccount({ mode: 'test', testCredits: 1, verified, balance: 0 });
    expect((await test.api.post(PATH, { to: ['500100201'], text: 'x' })).body).toMatchObject({
      ...{ test_mode: true, sufficient_funds: true },
    });
    const two = await test.api.post(PATH, { to: verified, text: 'x' });
    expect(two.body).toMatchObject({ sufficient_funds: false });
  });

  it.each([
    [{ to: '12', text: 'x' }, 400, 'to'],
    [{ to: 'group:nie ma', text: 'x' }, 404, 'groups'],
    [{ to: '500100201', text: 'x', from: 'OBCY' }, 422, 'from'],
    [{ to: '500100201', text: 'x', template_id: 'tpl_x' }, 404, 'template_id'],
  ])('%j is refused as a send is: %i, %s', async (body, status, param) => {
    const { api } = await newAccount();
    const answer = await api.post(PATH, body);
    expect([answer.status, answer.body.error.param]).toEqual([status, param]);
    const send = await api.send(body);
    expect(send.body.error).toEqual(answer.body.error);
  });
});

const SMIL = '<smil><body><text>Hej {{imie}} {{link:https://a.pl}}</text></body></smil>';
const MMS = { subject: 'Oferta', smil: SMIL, send_at: later };
const CALL = { text: 'Hej {{imie}}', tries: 3, send_at: later };

describe.each([
  ['mms', MMS, SMIL.replace('{{imie}}', 'Żaneta').replace('{{link:https://a.pl}}', `${HOST}/l/XXXXXXXX`), 60],
  ['voice', CALL, 'Hej Żaneta', 40],
] as const)('POST /v1/%s/estimate', (kind, message, text, price) => {
  const path = `/v1/${kind}/estimate`;

  it('tells what the same body would come to as a send', async () => {
    const account = await newAccount({
      balance: 2 * price - 1,
      countryRates: { '49': { mms: 90, vms: 90 } },
    });
    const { api } = account;
    await api.post('/v1/contacts', { msisdn: '500100201', first_name: 'Żaneta' });
    await api.post('/v1/blacklist', { msisdn: '+447911123456' });
    const to = ['500100201', '+447911123456'];
    const { status, body } = await api.post(path, { ...message, to, priority: true });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...{ count: 2, accepted: 1, total_parts: 1, total_cost_grosze: price, sufficient_funds: true },
      messages: [
        {
          ...{ to: '+48500100201', status: 'scheduled', text, parts: 1, price_per_part_grosze: price },
          ...{ cost_grosze: price, priority: false, send_at: later, error: null },
        },
        {
          ...{ status: 'rejected', price_per_part_grosze: 0, cost_grosze: 0, send_at: null },
          error: expect.stringMatching(/czarnej liście/) as string,
        },
      ],
    });
    expect((await api.post(path, { ...message, to: ['500100201', '500100202'] })).body).toMatchObject({
      ...{ total_cost_grosze: 2 * price, sufficient_funds: false },
    });
    expect((await api.post(path, { ...message, to: '+4915112345678' })).body).toMatchObject({
      total_cost_grosze: 90,
    });
    expect(await storedMessages(account.id)).toEqual([]);
    const sent = await decided(() => api.post(`/v1/${kind}`, { ...message, to }));
    expect(sent.body.messages.map((one) => shared({ ...one }))).toEqual(
      body.messages.map((one) => shared({ ...one })),
    );
  });
});
