import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { books, database, newAccount, storedMessages, type TestAccount } from '../support/factories.ts';

const ASKED = 8;

/**
 * A route of a real kind that sends nothing, for one account only: the simulated network stands back for it. Resolves
 * once every API knows it.
 */
async function closedTo(account: TestAccount, kind: 'smpp' | 'smsapi', to: string): Promise<void> {
  const sql = database();
  const name = `closed-${kind}`;
  const prefix = to.slice(1, 3);
  await sql`insert into routes (name, kind, state) values (${name}, ${kind}, 'disabled') on conflict do nothing`;
  await sql`insert into route_rules (route, account_id, prefix) values (${name}, ${account.id}, ${prefix})`;
  // Where there are several APIs, each finds it out for itself.
  const ask = () => account.api.post('/v1/messages/estimate', { to, text: 'Hej' });
  await eventually(
    () => Promise.all(Array.from({ length: ASKED }, ask)),
    (answers) => answers.every(({ status }) => status === 422),
  );
}

describe('a number to which no route leads', () => {
  it('is refused with 422, param to, and its place in the list; nothing is written or charged', async () => {
    const account = await newAccount({ balance: 1000 });
    await closedTo(account, 'smpp', '+4915112345678');
    const { api } = account;
    const body = { to: ['500100200', '+4915112345678'], text: 'Dzień dobry' };
    for (const path of ['/v1/messages/estimate', '/v1/messages']) {
      const { status, body: answer } = await api.post(path, body);
      expect(status).toBe(422);
      expect(answer.error).toMatchObject({ code: 'invalid_request', param: 'to' });
      expect(answer.error?.message).toContain('pozycja 2 na liście');
    }
    expect(await storedMessages(account.id)).toEqual([]);
    expect((await books(account.id)).balance).toBe(1000);
    expect((await api.post('/v1/messages', { to: '500100200', text: 'Dzień dobry' })).status).toBe(201);
  });

  it('is not looked up: 502, free of charge', async () => {
    const account = await newAccount({ balance: 100 });
    await closedTo(account, 'smsapi', '+48500100204');
    const { status, body } = await account.api.get('/v1/numbers/500100204/lookup');
    expect(status).toBe(502);
    expect(body.error?.code).toBe('provider_error');
    expect((await books(account.id)).balance).toBe(100);
  });
});

describe('an account with a rule of its own', () => {
  it('goes by its route, to its end', async () => {
    const account = await newAccount({ balance: 10_000 });
    const sql = database();
    await sql`insert into routes (name, kind) values ('own-route', 'simulator') on conflict do nothing`;
    await sql`insert into route_rules (route, account_id) values ('own-route', ${account.id})`;
    const sent = await eventually(
      async () => {
        const { body } = await account.api.post('/v1/messages', { to: '500100200', text: 'Hej' });
        const [row] = await sql<{ id: string; route: string }[]>`
          select id, route from messages where id = ${body.id}`;
        return row;
      },
      (row) => row?.route === 'own-route',
    );
    await eventually(
      () => account.api.get(`/v1/messages/${sent!.id}`),
      ({ body }) => body.status === 'delivered',
    );
  });
});
