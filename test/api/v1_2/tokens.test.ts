import { describe, expect, inject, it } from 'vitest';
import { endpoints } from '../../../api/endpoints.ts';
import { earlierEndpoints } from '../../../api/v1_2/endpoints.ts';
import { earlierClient, newEarlierAccount, newToken } from '../../support/earlierClient.ts';
import { database } from '../../support/factories.ts';

const SMS = { to: '+48500100200', message: 'Dzień dobry' };

describe('a token', () => {
  it('that is revoked is refused at once, and another of the account is not', async () => {
    const account = await newEarlierAccount();
    const other = await newToken(account.id);
    expect((await account.v1.get('/v1/balance')).status).toBe(200);
    await database()`update api_tokens set revoked_at = now() where id = ${account.tokenId}`;
    expect((await account.v1.get('/v1/balance')).status).toBe(401);
    expect((await other.v1.get('/v1/balance')).status).toBe(200);
  });

  it.each([undefined, `goniec_${'0'.repeat(40)}`, `sklep_${'0'.repeat(40)}`])(
    '%s is none: 401 in the form of the interface',
    async (token) => {
      const answer = await earlierClient(token).post('/v1/sms', SMS);
      expect(answer).toMatchObject({ status: 401, body: { error: { code: 401, details: null } } });
      expect(answer.body.error.message).toMatch(/token/i);
    },
  );

  it('has a rate limit of its own', async () => {
    const account = await newEarlierAccount();
    const few = await newToken(account.id, 3);
    const more = await newToken(account.id, 3);
    for (const remaining of [2, 1, 0]) {
      const { status, headers } = await few.v1.get('/v1/balance');
      expect(status).toBe(200);
      expect(headers.get('ratelimit')).toContain(`"token";r=${remaining};`);
    }
    const over = await few.v1.get('/v1/balance');
    expect(over.status).toBe(429);
    expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await more.v1.get('/v1/balance')).status).toBe(200);
    expect((await account.api.get('/v1/account')).status).toBe(200);
  });

  it.each(['suspended', 'closed'])('of a %s account is refused: 403', async (status) => {
    const account = await newEarlierAccount();
    await database()`update accounts set status = ${status} where id = ${account.id}`;
    expect((await account.v1.get('/v1/balance')).status).toBe(403);
  });
});

describe('the kind of key chooses the interface', () => {
  const key = (method: string, path: string) => `${method} ${path}`;
  const earlier = new Set(earlierEndpoints.map(({ method, path }) => key(method, path)));
  const guarded = earlierEndpoints.filter(({ scope }) => scope !== null);
  const current = new Set(endpoints.map(({ method, path }) => key(method, path)));
  const ask = async (method: string, path: string, authorization?: string) => {
    const response = await fetch(inject('service').apiUrl + path.replace(/:\w+/g, 'msg_x'), {
      method,
      headers: {
        'content-type': 'application/json',
        ...(authorization === undefined ? {} : { authorization: `Bearer ${authorization}` }),
      },
      ...(method === 'GET' ? {} : { body: '{}' }),
    });
    const body = (await response.json()) as { error?: { code: unknown }; request_id?: string };
    return { status: response.status, form: typeof body.error?.code, id: body.request_id };
  };

  it('a token finds nothing on a path that only the current interface has', async () => {
    const { token } = await newEarlierAccount();
    const others = endpoints.filter(
      ({ method, path, scope }) => scope !== null && !earlier.has(key(method, path)),
    );
    expect(others.length).toBeGreaterThan(20);
    for (const { method, path } of others) {
      expect([path, await ask(method, path, token)]).toEqual([path, { status: 404, form: 'number' }]);
    }
  });

  it('a key finds nothing on a path that only the earlier one has', async () => {
    const { key: apiKey } = await newEarlierAccount();
    const others = guarded.filter(({ method, path }) => !current.has(key(method, path)));
    expect(others.map(({ path }) => path)).toContain('/v1/sms');
    for (const { method, path } of others)
      expect(await ask(method, path, apiKey)).toMatchObject({ status: 404, form: 'string' });
  });

  it('without any, the form is that of the interface that has the path', async () => {
    for (const { method, path } of guarded) {
      // E-mail is in the earlier document alone.
      const isCurrent = current.has(key(method, path)) && !path.startsWith('/v1/email');
      const answer = await ask(method, path);
      expect([path, answer]).toMatchObject([path, { status: 401, form: isCurrent ? 'string' : 'number' }]);
    }
    expect(await ask('GET', '/v1/sms')).toMatchObject({ status: 405, form: 'number' });
    expect(await ask('GET', '/v1/nothing')).toMatchObject({ status: 404, form: 'string' });
    expect(await ask('GET', '/v1/nothing', `goniec_${'0'.repeat(40)}`)).toMatchObject({ form: 'number' });
  });

  it('on a path of both, each is answered by its own', async () => {
    const { api, v1 } = await newEarlierAccount();
    const smil = '<smil><body><text>x</text></body></smil>';
    const body = { to: '+48500100200', subject: 'x', smil };
    expect((await v1.post('/v1/mms', body)).status).toBe(200);
    expect((await api.post('/v1/mms', body)).status).toBe(201);
  });
});
