import { expect, it } from 'vitest';
import { database, newAccount } from '../support/factories.ts';

it('a page of the blacklist is quick among 100,000 entries', async () => {
  const account = await newAccount();
  await database()`
    insert into blacklist (account_id, msisdn, reason)
    select ${account.id}, '+48' || (600000000 + i), 'manual' from generate_series(1, 100000) i`;
  const start = performance.now();
  for (const cursor of ['%2B48600000001', '%2B48600050000', '%2B48600099000']) {
    const { body } = await account.api.get(`/v1/blacklist?limit=200&cursor=${cursor}`);
    expect(body.data).toHaveLength(200);
  }
  // It takes a few hundredths of a second.
  expect(performance.now() - start).toBeLessThan(10_000);
  await database()`delete from blacklist where account_id = ${account.id}`;
});
