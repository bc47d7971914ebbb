import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../db/ids.ts';
import { type ApiAnswer, type ApiClient, apiClient } from '../support/client.ts';
import { decided } from '../support/decided.ts';
import { eventually } from '../support/eventually.ts';
import { books, database, newAccount, type TestAccount } from '../support/factories.ts';
import { type CutOffApi, startCutOffApi } from '../support/cutOffApi.ts';
import { refusal } from './refusal.ts';

const PRICE = 5;
const pathOf = (msisdn: string) => `/v1/numbers/${msisdn}/lookup`;
/** The machine may be slow: a look-up without an answer in time is refunded, and asked for again. */
const lookUp = (api: Pick<ApiClient, 'get'>, msisdn: string) => decided(() => api.get(pathOf(msisdn)));
const ACTIVE = { status: 'active', network: 'Orange', mcc: '260', mnc: '03', ported: false };

interface StoredLookup {
  id: string;
  state: string;
  reason: string | null;
}

async function lookupsOf({ id }: TestAccount): Promise<StoredLookup[]> {
  return await database()<StoredLookup[]>`
    select id, state, reason from number_lookups where account_id = ${id} order by created_at, id`;
}

async function entriesOf({ id }: TestAccount): Promise<[string, number][]> {
  const entries = await database()<{ kind: string; amountGrosze: number }[]>`
    select kind, amount_grosze from ledger_entries
     where account_id = ${id} and kind in ('charge', 'refund') order by id`;
  return entries.map(({ kind, amountGrosze: amount }) => [kind, amount]);
}

/** Puts a charged look-up where another process left it. */
async function leave({ id: account }: TestAccount, ageSeconds: number, isReserved: boolean): Promise<string> {
  const id = newId('hlr');
  await database()`
    insert into number_lookups (id, account_id, msisdn, route, cost_grosze, created_at)
    values (${id}, ${account}, '+48500100200', 'simulator', ${PRICE}, now() - make_interval(secs => ${ageSeconds}))`;
  await database()`
    insert into ledger_entries (account_id, kind, amount_grosze, subject_kind, subject_id)
    values (${account}, 'charge', ${-PRICE}, 'lookup', ${id})`;
  if (isReserved) {
    await database()`
      insert into reservations (subject_id, kind, account_id, priority, start_after)
      values (${id}, 'lookup', ${account}, true, now() + make_interval(secs => ${10 - ageSeconds}))`;
  }
  return id;
}

function expectProviderError(answer: ApiAnswer, status: number): void {
  expect(answer).toMatchObject({ status, body: { error: { code: 'provider_error' } } });
}

describe('GET /v1/numbers/{msisdn}/lookup', () => {
  it('answers the whole result, and takes its price from the balance', async () => {
    const account = await newAccount({ balance: 100, scopes: ['send'] });
    const started = Date.now();
    const { status, body } = await lookUp(account.api, '500100200');
    expect(status).toBe(200);
    expect(body).toEqual({
      msisdn: '+48500100200',
      ...ACTIVE,
      cost_grosze: PRICE,
      cached: false,
      checked_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
    });
    const checked = Date.parse((body as unknown as { checked_at: string }).checked_at);
    // The database has a clock of its own.
    expect(checked).toBeGreaterThan(started - 1000);
    expect(checked).toBeLessThan(Date.now() + 1000);
    expect(await books(account.id)).toMatchObject({ balance: 95, ledger: 95 });
    expect(await entriesOf(account)).toEqual([['charge', -PRICE]]);
  });

  it.each([
    ['500100911', { status: 'inactive', network: 'Orange', mcc: '260', mnc: '03', ported: false }],
    ['500100912', { status: 'invalid', network: null, mcc: null, mnc: null, ported: null }],
    ['500100913', { status: 'unknown', network: null, mcc: null, mnc: null, ported: null }],
    ['500100914', { status: 'active', network: 'Play', mcc: '260', mnc: '06', ported: true }],
    ['221234567', { status: 'active', network: null, mcc: null, mnc: null, ported: false }],
  ])('every status and ported: %s', async (number, expected) => {
    const account = await newAccount();
    const answer = await lookUp(account.api, number);
    expect(answer).toMatchObject({ status: 200, body: { ...expected, cost_grosze: PRICE, cached: false } });
    expect((await lookUp(account.api, number)).body).toMatchObject({ ...expected, cached: true });
  });

  it('takes all formats of a number for the same one', async () => {
    const account = await newAccount();
    for (const [index, number] of ['%2B48500100200', '+48500100200', '48500100200', '500100200'].entries()) {
      const { status, body } = await lookUp(account.api, number);
      expect([status, body]).toMatchObject([200, { msisdn: '+48500100200', cached: index > 0 }]);
    }
    expect(await entriesOf(account)).toHaveLength(1);
  });

  it.each(['abc', '%00', '++48500100200'])('the malformed number %s gives 400', async (number) => {
    const account = await newAccount();
    const answer = await lookUp(account.api, number);
    expect(answer).toMatchObject(refusal(400, 'msisdn'));
    expect(await lookupsOf(account)).toEqual([]);
  });

  it('costs what the account pays; a price of nothing leaves no entry', async () => {
    const account = await newAccount({ balance: 0 });
    await database()`update accounts set price_per_hlr_grosze = 0 where id = ${account.id}`;
    expect((await lookUp(account.api, '500100200')).body).toMatchObject({ cost_grosze: 0, cached: false });
    expect(await entriesOf(account)).toEqual([]);
  });
});

describe('the cache of 24 hours', () => {
  it('answers a repeat at no cost, with the time of the first', async () => {
    const account = await newAccount();
    const { body } = await lookUp(account.api, '500100200');
    expect((await lookUp(account.api, '500100200')).body).toEqual({ ...body, cost_grosze: 0, cached: true });
    expect(await entriesOf(account)).toHaveLength(1);
    expect(await lookupsOf(account)).toHaveLength(1);
  });

  it('ends after 24 hours', async () => {
    const account = await newAccount();
    const age = (hours: string) => database()`
      update number_lookups set checked_at = now() - ${hours}::interval where account_id = ${account.id}`;
    await lookUp(account.api, '500100200');
    await age('23 hours 59 minutes 50 seconds');
    expect((await lookUp(account.api, '500100200')).body).toMatchObject({ cached: true });
    await age('24 hours 1 second');
    expect((await lookUp(account.api, '500100200')).body).toMatchObject({
      cached: false,
      cost_grosze: PRICE,
    });
    expect(await entriesOf(account)).toHaveLength(2);
    expect((await lookUp(account.api, '500100200')).body).toMatchObject({ cached: true });
  });

  it('is each account’s own', async () => {
    const [one, other] = await Promise.all([newAccount(), newAccount()]);
    await lookUp(one.api, '500100200');
    expect((await lookUp(other.api, '500100200')).body).toMatchObject({ cached: false, cost_grosze: PRICE });
  });

  it('serves an account without money, and one with an overdue statement', async () => {
    const account = await newAccount({ balance: PRICE });
    await lookUp(account.api, '500100200');
    expect((await lookUp(account.api, '500100201')).status).toBe(402);
    await overdue(account);
    expect((await lookUp(account.api, '500100200')).body).toMatchObject({ cached: true, cost_grosze: 0 });
  });
});

async function overdue({ id }: TestAccount): Promise<void> {
  await database()`update accounts set billing_mode = 'postpaid', credit_limit_grosze = 1000 where id = ${id}`;
  await database()`
    insert into statements (id, account_id, month, amount_grosze, due_at)
    values (${newId('st')}, ${id}, '2026-01-01', 100, now() - interval '1 day')`;
}

describe('who may not pay', () => {
  it('too little balance gives 402 and charges nothing; with money it works at once', async () => {
    const account = await newAccount({ balance: PRICE - 1 });
    const answer = await lookUp(account.api, '500100200');
    expect(answer).toMatchObject(refusal(402));
    expect(await books(account.id)).toMatchObject({ balance: PRICE - 1, ledger: PRICE - 1 });
    expect(await entriesOf(account)).toEqual([]);
    expect(await lookupsOf(account)).toEqual([]);
    await database()`
      insert into ledger_entries (account_id, kind, amount_grosze) values (${account.id}, 'topup', 1)`;
    expect((await lookUp(account.api, '500100200')).status).toBe(200);
    expect(await books(account.id)).toMatchObject({ balance: 0, ledger: 0 });
  });

  it('an overdue statement gives 402 until it is paid', async () => {
    const account = await newAccount();
    await overdue(account);
    const answer = await lookUp(account.api, '500100200');
    expect(answer).toMatchObject(refusal(402));
    expect(await lookupsOf(account)).toEqual([]);
    await database()`update statements set paid_at = now() where account_id = ${account.id}`;
    expect((await lookUp(account.api, '500100200')).status).toBe(200);
  });

  it('a test account looks up its verified numbers for nothing, others not at all', async () => {
    const account = await newAccount({
      mode: 'test',
      balance: 0,
      testCredits: 3,
      verified: ['+48500100200'],
    });
    const answer = await lookUp(account.api, '500100200');
    expect(answer).toMatchObject({ status: 200, body: { ...ACTIVE, cost_grosze: 0, cached: false } });
    expect((await lookUp(account.api, '500100200')).body).toMatchObject({ cost_grosze: 0, cached: true });
    const other = await lookUp(account.api, '500100201');
    expect(other).toMatchObject(refusal(403, 'msisdn'));
    expect(await entriesOf(account)).toEqual([]);
    expect(await books(account.id)).toMatchObject({ balance: 0, credits: 3 });
  });
});

describe('a provider that fails', () => {
  it.each([
    ['915', 502, 'failed'],
    ['916', 504, 'timed_out'],
  ])('ending %s gives %i, and the price comes back once', async (ending, status, reason) => {
    const account = await newAccount({ balance: 100 });
    expectProviderError(await account.api.get(pathOf(`500100${ending}`)), status);
    expect(await lookupsOf(account)).toMatchObject([{ state: 'failed', reason }]);
    expect(await entriesOf(account)).toEqual([
      ['charge', -PRICE],
      ['refund', PRICE],
    ]);
    expect(await books(account.id)).toMatchObject({ balance: 100, ledger: 100 });
  });
});

describe('several at once', () => {
  let second: CutOffApi;
  beforeAll(async () => void (second = await startCutOffApi()));
  afterAll(() => second.stop());

  function together(account: TestAccount, number: string, times = 20): Promise<ApiAnswer[]> {
    const apis = [account.api, apiClient(second.api.url, account.key)];
    return Promise.all(Array.from({ length: times }, (_, i) => apis[i % 2]!.get(pathOf(number))));
  }

  it.each(['500100200', '500100917'])('of one number (%s), in two processes, cost once', async (number) => {
    const account = await newAccount({ balance: 100 });
    const answers = await together(account, number);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const fresh = answers.filter(({ body }) => !(body as unknown as { cached: boolean }).cached);
    expect(fresh).toHaveLength(1);
    expect(fresh[0]!.body.cost_grosze).toBe(PRICE);
    expect(answers.reduce((sum, { body }) => sum + body.cost_grosze, 0)).toBe(PRICE);
    expect(await entriesOf(account)).toEqual([['charge', -PRICE]]);
    expect(await books(account.id)).toMatchObject({ balance: 95, ledger: 95 });
  });

  it('that time out all get 504, with one charge and one refund', async () => {
    const account = await newAccount({ balance: 100 });
    for (const answer of await together(account, '500100916')) expectProviderError(answer, 504);
    expect(await entriesOf(account)).toEqual([
      ['charge', -PRICE],
      ['refund', PRICE],
    ]);
  });

  it('of many numbers never spend more than there is', async () => {
    const account = await newAccount({ balance: 3 * PRICE + 4 });
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) => account.api.get(pathOf(String(500_100_300 + i)))),
    );
    const counts = [200, 402].map((wanted) => answers.filter(({ status }) => status === wanted).length);
    expect(counts).toEqual([3, 9]);
    expect(await books(account.id)).toMatchObject({ balance: 4, ledger: 4 });
  });
});

describe('what a process left behind', () => {
  it('a look-up that was accepted but not begun is taken up by who asks for the same', async () => {
    const account = await newAccount({ balance: 100 });
    const id = await leave(account, 0, true);
    expect(await account.api.get(pathOf('500100200'))).toMatchObject({
      ...{ status: 200, body: { ...ACTIVE, cached: true, cost_grosze: 0 } },
    });
    expect(await lookupsOf(account)).toMatchObject([{ id, state: 'done' }]);
    expect(await entriesOf(account)).toEqual([['charge', -PRICE]]);
  });

  it('one that no request waits for is refunded by a worker', async () => {
    const account = await newAccount({ balance: 100 });
    const id = await leave(account, 11, true);
    const [left] = await eventually(
      () => lookupsOf(account),
      ([row]) => row?.state !== 'charged',
    );
    expect(left).toEqual({ id, state: 'failed', reason: 'timed_out' });
    expect(await books(account.id)).toMatchObject({ balance: 100, ledger: 100 });
    expect((await lookUp(account.api, '500100200')).body).toMatchObject({
      cached: false,
      cost_grosze: PRICE,
    });
  });

  it('one whose workflow is gone is refunded by the next request of its account', async () => {
    const [other, account] = [await newAccount({ balance: 100 }), await newAccount({ balance: 100 })];
    await leave(other, 121, false);
    const id = await leave(account, 121, false);
    const { body } = await lookUp(account.api, '500100200');
    expect(body).toMatchObject({ cached: false, cost_grosze: PRICE });
    expect(await lookupsOf(account)).toMatchObject([{ id, state: 'failed' }, { state: 'done' }]);
    expect(await books(account.id)).toMatchObject({ balance: 95, ledger: 95 });
    expect(await lookupsOf(other)).toMatchObject([{ state: 'charged' }]);
    expect(await entriesOf(other)).toEqual([['charge', -PRICE]]);
  });
});

// Each has an API of its own and mostly waits: together they take as long as one.
describe.concurrent('without Temporal', () => {
  it.each(['cut', 'freeze'] as const)(
    '%s: ends by itself, certainly not charged; afterwards it works',
    async (how) => {
      const { api, temporal, stop } = await startCutOffApi();
      try {
        const account = await newAccount({ balance: 100 });
        const client = apiClient(api.url, account.key);
        temporal[how]();
        const answers = await Promise.all([
          client.get(pathOf('500100200')),
          client.get(pathOf('500100200')),
          client.get(pathOf('500100201')),
        ]);
        for (const answer of answers) {
          expect([502, 504]).toContain(answer.status);
          expect(answer.body.error.code).toBe('provider_error');
        }
        const left = await lookupsOf(account);
        expect(new Set(left.map(({ reason }) => reason))).toEqual(new Set(['abandoned']));
        expect(await books(account.id)).toMatchObject({ balance: 100, ledger: 100 });
        temporal.restore();
        await eventually(
          () => client.get('/v1/health'),
          ({ status }) => status === 200,
        );
        expect((await lookUp(client, '500100200')).body).toMatchObject({ cached: false });
        expect(await books(account.id)).toMatchObject({ balance: 95, ledger: 95 });
      } finally {
        temporal.restore();
        await stop();
      }
    },
  );
});
