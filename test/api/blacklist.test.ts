import { describe, expect, it } from 'vitest';
import type { AnswerBody } from '../support/client.ts';
import { database, newAccount, type TestAccount } from '../support/factories.ts';
import { refusal } from './refusal.ts';

const number = (i: number) => `+48500${String(300_000 + i)}`;
const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, i) => number(from + i));
const ahead = (ms: number) => new Date(Date.now() + ms).toISOString();
const add = ({ api }: TestAccount, body: object) => api.post('/v1/blacklist', body);

async function listed({ api }: TestAccount): Promise<AnswerBody[]> {
  return (await api.get('/v1/blacklist?limit=200')).body.data;
}

async function walk({ api }: TestAccount, limit: number) {
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const query = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { status, body } = await api.get(`/v1/blacklist?limit=${limit}${query}`);
    expect(status).toBe(200);
    seen.push(...body.data.map(({ msisdn }) => msisdn));
    if (body.next_cursor !== null) expect(body.next_cursor).toBe(seen.at(-1));
    cursor = body.next_cursor;
  }
  return seen;
}

/** As if the entry had been made with an end that is over now. */
async function expire({ id }: TestAccount, msisdn: string): Promise<void> {
  await database()`
    update blacklist set created_at = now() - interval '2 hours', expires_at = now() - interval '1 second'
     where account_id = ${id} and msisdn = ${msisdn}`;
}

describe('POST /v1/blacklist', () => {
  it('one number: reason manual and no end by default', async () => {
    const account = await newAccount();
    const answer = await add(account, { msisdn: '500300001' });
    expect(answer).toMatchObject({ status: 201, body: { added: 1, invalid: [], expires_at: null } });
    expect(await listed(account)).toEqual([
      {
        msisdn: '+48500300001',
        reason: 'manual',
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
        expires_at: null,
      },
    ]);
    await add(account, { msisdn: '500300002', reason: null, expires_at: null });
    expect((await listed(account)).at(-1)).toMatchObject({ reason: 'manual', expires_at: null });
  });

  it('takes reason and end, in any offset', async () => {
    const account = await newAccount();
    const body = { msisdn: number(1), reason: 'skarga „ż” 🙂', expires_at: '2030-01-01T01:00:00+01:00' };
    expect((await add(account, body)).body.expires_at).toBe('2030-01-01T00:00:00.000Z');
    expect(await listed(account)).toMatchObject([
      { reason: 'skarga „ż” 🙂', expires_at: '2030-01-01T00:00:00.000Z' },
    ]);
    expect((await add(account, { msisdn: number(2), expires_at: null })).body.expires_at).toBeNull();
  });

  it('counts distinct numbers, whatever their format, and lists what is none as it was given', async () => {
    const account = await newAccount();
    const msisdns = [
      '+48500300001',
      '48500300001',
      '500300001',
      'abc',
      '',
      '500 300 002',
      '+4915112345678',
      'abc',
    ];
    expect((await add(account, { msisdns })).body).toEqual({
      added: 2,
      invalid: ['abc', '', '500 300 002', 'abc'],
      expires_at: null,
    });
    expect((await listed(account)).map(({ msisdn }) => msisdn)).toEqual(
      ['+48500300001', '+4915112345678'].sort(),
    );
  });

  it('overwrites reason and end of an entry and keeps its created_at', async () => {
    const account = await newAccount();
    await add(account, { msisdn: number(1), reason: 'a', expires_at: ahead(60_000) });
    const [before] = await listed(account);
    await add(account, { msisdns: [number(1), number(2)], reason: 'b' });
    const [after, second] = await listed(account);
    expect(after).toEqual({ ...before, reason: 'b', expires_at: null });
    expect(second).toMatchObject({ msisdn: number(2), reason: 'b' });
    await add(account, { msisdn: number(1), expires_at: '2030-01-01T00:00:00Z' });
    expect((await listed(account))[0]).toMatchObject({
      reason: 'manual',
      expires_at: '2030-01-01T00:00:00.000Z',
    });
  });

  it('an entry whose end is over begins anew', async () => {
    const account = await newAccount();
    await add(account, { msisdn: number(1), expires_at: ahead(60_000) });
    const [former] = await listed(account);
    await expire(account, number(1));
    await add(account, { msisdn: number(1) });
    const [entry] = await listed(account);
    // It was put back by two hours.
    expect(Date.parse(entry!.created_at)).toBeGreaterThan(Date.parse(former!.created_at));
  });

  it('takes 1000 numbers, not 1001', async () => {
    const account = await newAccount();
    expect((await add(account, { msisdns: numbers(1000) })).body.added).toBe(1000);
    expect(await add(account, { msisdns: numbers(1001) })).toMatchObject(refusal(400, 'msisdns'));
    expect(await walk(account, 200)).toEqual(numbers(1000));
  });

  it.each([
    [{}, 'msisdn'],
    [{ msisdn: '500300001', msisdns: ['500300001'] }, 'msisdns'],
    [{ msisdns: [] }, 'msisdns'],
    [{ msisdns: [500300001] }, 'msisdns'],
    [{ msisdn: 500300001 }, 'msisdn'],
    [{ msisdn: '500300001', reason: '' }, 'reason'],
    [{ msisdn: '500300001', reason: 'x'.repeat(201) }, 'reason'],
    [{ msisdn: '500300001', expires_at: '2030-01-01T00:00:00' }, 'expires_at'],
    [{ msisdn: '500300001', expires_at: ahead(-1000) }, 'expires_at'],
    [{ msisdn: '500300001', expires: null }, 'expires'],
  ])('%j gives 400 with param %s and lists nothing', async (body, param) => {
    const account = await newAccount();
    expect(await add(account, body)).toMatchObject(refusal(400, param));
    expect(await listed(account)).toEqual([]);
  });

  it('a reason may have 200 characters', async () => {
    const account = await newAccount();
    expect((await add(account, { msisdn: number(1), reason: 'ż'.repeat(200) })).status).toBe(201);
    expect((await listed(account))[0]!.reason).toBe('ż'.repeat(200));
  });

  it('overlapping requests for the same thousand numbers all succeed', async () => {
    const account = await newAccount();
    const forwards = numbers(1000);
    const backwards = numbers(1000).reverse();
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, i) => add(account, { msisdns: i % 2 === 0 ? forwards : backwards })),
    );
    expect(answers.map(({ status, body }) => [status, body.added])).toEqual(answers.map(() => [201, 1000]));
    expect(await walk(account, 200)).toEqual(forwards);
  });
});

describe('GET /v1/blacklist', () => {
  it('filters by number, by reason, and by when a number was listed', async () => {
    const account = await newAccount();
    await add(account, { msisdn: number(1), reason: 'skarga' });
    await add(account, { msisdn: number(2) });
    const [, second] = await listed(account);
    const found = async (query: string) =>
      (await account.api.get(`/v1/blacklist?${query}`)).body.data.map(({ msisdn }) => msisdn);
    expect(await found('reason=skarga')).toEqual([number(1)]);
    expect(await found(`msisdn=${number(2).slice(3)}`)).toEqual([number(2)]);
    expect(await found('reason=skarga&since=2099-01-01T00:00:00Z')).toEqual([]);
    expect(await found(`since=${second!.created_at}`)).toEqual([number(2)]);
    expect(await found(`until=${second!.created_at}`)).toEqual([number(1)]);
  });

  it('pages by number, 50 by default, 200 at most; the cursor is the last number', async () => {
    const account = await newAccount();
    await add(account, { msisdns: numbers(201).reverse() });
    const first = (await account.api.get('/v1/blacklist')).body;
    expect([first.data.length, first.next_cursor]).toEqual([50, number(49)]);
    expect(await walk(account, 50)).toEqual(numbers(201));
    const most = (await account.api.get('/v1/blacklist?limit=200')).body;
    expect([most.data.length, most.next_cursor]).toEqual([200, number(199)]);
    expect((await account.api.get('/v1/blacklist?limit=201')).status).toBe(400);
    await account.api.delete(`/v1/blacklist/${encodeURIComponent(number(200))}`);
    expect((await account.api.get('/v1/blacklist?limit=200')).body.next_cursor).toBeNull();
    const end = await account.api.get(`/v1/blacklist?cursor=${encodeURIComponent(number(199))}`);
    expect(end.body).toEqual({ data: [], next_cursor: null });
  });

  it('omits expired entries, on every page', async () => {
    const account = await newAccount();
    await add(account, { msisdns: numbers(9), expires_at: ahead(3_600_000) });
    for (const i of [0, 3, 4, 8]) await expire(account, number(i));
    expect(await walk(account, 2)).toEqual([1, 2, 5, 6, 7].map(number));
  });

  it.each([
    ['limit=0', 'limit'],
    ['cursor=abc', 'cursor'],
    ['cursor=48500300001', 'cursor'],
  ])('%s gives 400 with param %s', async (query, param) => {
    const { api } = await newAccount();
    expect(await api.get(`/v1/blacklist?${query}`)).toMatchObject(refusal(400, param));
  });
});

describe('DELETE /v1/blacklist/{msisdn}', () => {
  it.each(['%2B48500300001', '+48500300001', '48500300001', '500300001'])('%s', async (path) => {
    const account = await newAccount();
    await add(account, { msisdns: [number(1), number(2)] });
    const answer = await account.api.delete(`/v1/blacklist/${path}`);
    expect([answer.status, answer.body]).toEqual([200, { removed: '+48500300001' }]);
    expect((await listed(account)).map(({ msisdn }) => msisdn)).toEqual([number(2)]);
    expect(await account.api.delete(`/v1/blacklist/${path}`)).toMatchObject(refusal(404));
  });

  it.each(['abc', '12', '%00'])('%s: 400', async (path) => {
    const { api } = await newAccount();
    expect(await api.delete(`/v1/blacklist/${path}`)).toMatchObject(refusal(400, 'msisdn'));
  });

  it('an expired entry counts as not listed', async () => {
    const account = await newAccount();
    await add(account, { msisdn: number(1), expires_at: ahead(60_000) });
    await expire(account, number(1));
    expect((await account.api.delete(`/v1/blacklist/${number(1)}`)).status).toBe(404);
  });

  it('two at once: one has removed it', async () => {
    const account = await newAccount();
    await add(account, { msisdn: number(1) });
    const answers = await Promise.all([1, 2].map(() => account.api.delete(`/v1/blacklist/${number(1)}`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404]);
  });
});
