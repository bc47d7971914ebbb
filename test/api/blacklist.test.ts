import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { activeEntry, blacklistForOptOut } from '../../db/incoming/blacklist.ts';
import type { AnswerBody } from '../support/client.ts';
import { database, newAccount, type TestAccount } from '../support/factories.ts';

const number = (i: number) => `+48500${String(300_000 + i)}`;
const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, i) => number(from + i));
const ahead = (ms: number) => new Date(Date.now() + ms).toISOString();
const add = ({ api }: TestAccount, body: object) => api.post('/v1/blacklist', body);

async function listed({ api }: TestAccount): Promise<AnswerBody[]> {
  return (await api.get('/v1/blacklist?limit=200')).body.data;
}

/** Walks all pages, doing something between them. */
async function walk({ api }: TestAccount, limit: number, between?: (last: string) => Promise<unknown>) {
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const query = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { status, body } = await api.get(`/v1/blacklist?limit=${limit}${query}`);
    expect(status).toBe(200);
    seen.push(...body.data.map(({ msisdn }) => msisdn));
    if (body.next_cursor !== null) expect(body.next_cursor).toBe(seen.at(-1));
    cursor = body.next_cursor;
    if (cursor !== null) await between?.(cursor);
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
  it('one number: reason manual and no end unless told', async () => {
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

  it('a single number that is none is listed as invalid, too', async () => {
    const account = await newAccount();
    expect(await add(account, { msisdn: '12' })).toMatchObject({
      status: 201,
      body: { added: 0, invalid: ['12'] },
    });
    expect(await listed(account)).toEqual([]);
  });

  it('gives back hostile texts as they came', async () => {
    const account = await newAccount();
    const hostile = [
      '\u0000',
      "'; drop table blacklist; --",
      '＋４８５００３０００01',
      '+48500300001\n',
      'x'.repeat(5000),
    ];
    expect((await add(account, { msisdns: hostile })).body).toMatchObject({ added: 0, invalid: hostile });
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
    expect(await add(account, { msisdns: numbers(1001) })).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_request', param: 'msisdns' } },
    });
    expect(await walk(account, 200)).toEqual(numbers(1000));
  });

  it.each([
    [{}, 'msisdn'],
    [{ reason: 'x' }, 'msisdn'],
    [{ msisdn: '500300001', msisdns: ['500300001'] }, 'msisdns'],
    [{ msisdns: [] }, 'msisdns'],
    [{ msisdns: '500300001' }, 'msisdns'],
    [{ msisdns: [500300001] }, 'msisdns'],
    [{ msisdns: [null] }, 'msisdns'],
    [{ msisdn: 500300001 }, 'msisdn'],
    [{ msisdn: ['500300001'] }, 'msisdn'],
    [{ msisdn: null }, 'msisdn'],
    [{ msisdn: '500300001', reason: '' }, 'reason'],
    [{ msisdn: '500300001', reason: 'x'.repeat(201) }, 'reason'],
    [{ msisdn: '500300001', reason: 'a\u0000' }, 'reason'],
    [{ msisdn: '500300001', reason: 'a\ud800' }, 'reason'],
    [{ msisdn: '500300001', reason: 5 }, 'reason'],
    [{ msisdn: '500300001', expires_at: '' }, 'expires_at'],
    [{ msisdn: '500300001', expires_at: '2030-01-01T00:00:00' }, 'expires_at'],
    [{ msisdn: '500300001', expires_at: '2030-02-30T00:00:00Z' }, 'expires_at'],
    [{ msisdn: '500300001', expires_at: '9999-12-31T23:59:59-18:00' }, 'expires_at'],
    [{ msisdn: '500300001', expires_at: ahead(-1000) }, 'expires_at'],
    [{ msisdn: '500300001', expires_at: '0001-01-01T00:00:00Z' }, 'expires_at'],
    [{ msisdn: '500300001', expires_at: 1_900_000_000 }, 'expires_at'],
    [{ msisdn: '500300001', expires: null }, 'expires'],
  ])('%j gives 400 with param %s and lists nothing', async (body, param) => {
    const account = await newAccount();
    expect(await add(account, body)).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_request', param } },
    });
    expect(await listed(account)).toEqual([]);
  });

  it('says in Polish what is wrong', async () => {
    const account = await newAccount();
    const message = async (body: object) => (await add(account, body)).body.error.message;
    expect(await message({ msisdn: '1', msisdns: ['1'] })).toBe(
      'Podaj jedno z pól „msisdn” i „msisdns”, nie oba.',
    );
    expect(await message({ msisdn: '1', expires_at: '2020-01-01T00:00:00Z' })).toBe(
      'Pole „expires_at” musi być chwilą w przyszłości.',
    );
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

  it('needs the scope manage; reading needs read', async () => {
    const reader = await newAccount({ scopes: ['read', 'send'] });
    expect(await add(reader, { msisdn: number(1) })).toMatchObject({
      status: 403,
      body: { error: { code: 'forbidden' } },
    });
    expect((await reader.api.delete(`/v1/blacklist/${number(1)}`)).status).toBe(403);
    const writer = await newAccount({ scopes: ['manage'] });
    expect((await writer.api.get('/v1/blacklist')).status).toBe(403);
    expect((await add(writer, { msisdn: number(1) })).status).toBe(201);
  });
});

describe('GET /v1/blacklist', () => {
  it('pages by number, 50 unless told, 200 at most; the cursor is the last number', async () => {
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
    ['limit=201', 'limit'],
    ['limit=abc', 'limit'],
    ['cursor=', 'cursor'],
    ['cursor=abc', 'cursor'],
    ['cursor=48500300001', 'cursor'],
    ['cursor=%2B48500300001%00', 'cursor'],
    ['cursor=+48500300001', 'cursor'],
    ['cursor=%2B48500300001&cursor=%2B48500300002', 'cursor'],
    ['page=2', 'page'],
  ])('%s gives 400 with param %s', async (query, param) => {
    const { api } = await newAccount();
    expect(await api.get(`/v1/blacklist?${query}`)).toMatchObject({
      status: 400,
      body: { error: { param } },
    });
  });

  it('points out a plus that is not encoded', async () => {
    const { api } = await newAccount();
    expect((await api.get('/v1/blacklist?cursor=+48500300001')).body.error.message).toContain('%2B');
  });

  it('neither skips nor repeats while numbers are added and removed', async () => {
    const step = fc.record({ kind: fc.constantFrom('add', 'remove'), at: fc.nat(59) });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.nat(59), { minLength: 5, maxLength: 30 }),
        fc.integer({ min: 1, max: 7 }),
        fc.array(step, { maxLength: 12 }),
        async (initial, limit, steps) => {
          const account = await newAccount();
          await add(account, { msisdns: initial.map(number) });
          const touched = new Set(steps.map(({ at }) => number(at)));
          const pending = [...steps];
          const seen = await walk(account, limit, async () => {
            const next = pending.shift();
            if (next?.kind === 'add') await add(account, { msisdn: number(next.at) });
            if (next?.kind === 'remove') await account.api.delete(`/v1/blacklist/${number(next.at)}`);
          });
          expect(seen).toEqual([...new Set(seen)].sort());
          const untouched = initial.map(number).filter((msisdn) => !touched.has(msisdn));
          expect(seen).toEqual(expect.arrayContaining(untouched));
        },
      ),
      { numRuns: 12, seed: 7 },
    );
  });
});

describe('DELETE /v1/blacklist/{msisdn}', () => {
  it.each(['%2B48500300001', '+48500300001', '48500300001', '500300001'])('%s', async (path) => {
    const account = await newAccount();
    await add(account, { msisdns: [number(1), number(2)] });
    const answer = await account.api.delete(`/v1/blacklist/${path}`);
    expect([answer.status, answer.body]).toEqual([200, { removed: '+48500300001' }]);
    expect((await listed(account)).map(({ msisdn }) => msisdn)).toEqual([number(2)]);
    expect(await account.api.delete(`/v1/blacklist/${path}`)).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found' } },
    });
  });

  it.each(['abc', '12', '%00', '%2B', '0048500300001', "'%20or%201=1", 'x'.repeat(3000)])(
    '%s: 400',
    async (path) => {
      const { api } = await newAccount();
      expect(await api.delete(`/v1/blacklist/${path}`)).toMatchObject({
        status: 400,
        body: { error: { code: 'invalid_request', param: 'msisdn' } },
      });
    },
  );

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

describe('the blacklist for the rest of the service', () => {
  it('an opt-out overwrites what stands there, once', async () => {
    const account = await newAccount();
    await add(account, { msisdn: number(1), reason: 'urlop', expires_at: ahead(60_000) });
    await blacklistForOptOut(database(), account.id, number(1));
    const first = await listed(account);
    expect(first).toMatchObject([{ msisdn: number(1), reason: 'opt_out', expires_at: null }]);
    await Promise.all([1, 2, 3].map(() => blacklistForOptOut(database(), account.id, number(1))));
    expect(await listed(account)).toEqual(first);
  });

  it('finds entries in force of the account alone', async () => {
    const [one, other] = [await newAccount(), await newAccount()];
    await add(one, { msisdns: numbers(3), expires_at: ahead(60_000) });
    await add(other, { msisdn: number(7) });
    await expire(one, number(1));
    const sql = database();
    const found = await sql`
      select r from unnest(${numbers(9)}::text[]) as r
       where exists (${activeEntry(sql, sql`${one.id}`, sql`r`)}) order by r`;
    expect(found.map((row) => String(row['r']))).toEqual([number(0), number(2)]);
  });
});
