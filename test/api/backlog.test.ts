import { expect, it, onTestFinished } from 'vitest';
import { newEarlierAccount } from '../support/earlierClient.ts';
import { giveDomain, LEAST } from '../support/email.ts';
import { books, database, newAccount } from '../support/factories.ts';
import { eventually } from '../support/eventually.ts';

it('refuses the sends of an account with 100,000 waiting, not those of others', async () => {
  const account = await newEarlierAccount({ balance: 1_000 });
  const domain = await giveDomain(account.id);
  const sql = database();
  onTestFinished(async () => {
    await sql`delete from reservations where account_id = ${account.id}`;
  });
  await sql`
    insert into reservations (subject_id, kind, account_id, priority, start_after)
    select 'msg_backlog' || n, 'message', ${account.id}, false, now() + interval '1 hour' from generate_series(1, 100000) n`;

  const send = () => account.api.post('/v1/messages', { to: '500100200', text: 'Dzień dobry' });
  const refused = await eventually(send, ({ status }) => status !== 201);
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toBe('60');
  expect(refused.body.error.code).toBe('provider_error');
  const email = await account.api.post('/v1/email', { ...LEAST, from: `a@${domain}` });
  expect([email.status, email.headers.get('retry-after')]).toEqual([503, '60']);
  const earlier = await account.v1.post('/v1/sms', { to: '+48500100200', message: 'Dzień dobry' });
  expect([earlier.status, earlier.headers.get('retry-after')]).toEqual([503, '60']);

  const before = await books(account.id);
  await send();
  expect(await books(account.id)).toEqual(before);
  const other = await newAccount({ balance: 1_000 });
  expect((await other.api.post('/v1/messages', { to: '500100200', text: 'Dzień dobry' })).status).toBe(201);
});
