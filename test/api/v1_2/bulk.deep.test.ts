import { expect, it } from 'vitest';
import { newEarlierAccount } from '../../support/earlierClient.ts';
import { endBulk } from '../../support/endBulk.ts';
import { books, database } from '../../support/factories.ts';

const tomorrow = new Date(Date.now() + 86_400_000).toISOString();

it('one text to 10,000 is answered in time, charged to the grosz, and holds nobody up', async () => {
  const account = await newEarlierAccount({ balance: 100_000, price: 10 });
  const other = await newEarlierAccount();
  const recipients = Array.from({ length: 10_000 }, (_, index) => `+48${500_000_000 + index}`);
  const blocked = recipients.filter((_, index) => index % 33 === 0);
  for (let from = 0; from < blocked.length; from += 1000)
    await account.api.post('/v1/blacklist', { msisdns: blocked.slice(from, from + 1000) });
  const bulk = { recipients, message: 'Promocja do piątku.', date: tomorrow };
  const sending = account.v1.post('/v1/sms/bulk', bulk);
  const slowest = await slowestWhile(() => other.v1.get('/v1/balance'), sending);
  const { status, body } = await sending;
  expect(status).toBe(200);
  expect(body.data.count).toBe(10_000);
  const rejected = body.data.messages.filter((one) => one.status === 'rejected');
  expect(rejected.map(({ to }) => to).sort()).toEqual([...blocked].sort());
  expect((await books(account.id)).balance).toBe(100_000 - 10 * (10_000 - blocked.length));
  expect(slowest).toBeLessThan(5_000);
  const [stored] = await database()`
    select count(*)::int as messages, count(distinct recipient)::int as recipients from messages where account_id = ${account.id}`;
  expect(stored).toEqual({ messages: 10_000, recipients: 10_000 });
  await endBulk(account.id);
});

/** How long the slowest of the calls took that were made until the work was done, in ms; printed, too. */
async function slowestWhile(ask: () => Promise<{ status: number }>, work: Promise<unknown>): Promise<number> {
  let done = false;
  void work.finally(() => (done = true)).catch(() => undefined);
  let slowest = 0;
  while (!done) {
    const began = performance.now();
    expect((await ask()).status).toBe(200);
    slowest = Math.max(slowest, performance.now() - began);
  }
  console.log(`the slowest other request took ${Math.round(slowest)} ms`);
  return slowest;
}
