import { expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { books, newAccount } from '../support/factories.ts';
import { report } from '../support/reports.ts';

it('a message that is really rejected at its submit was charged what came back: nothing remains', async () => {
  const account = await newAccount({ balance: 1000, price: 10 });
  const sendAt = new Date(Date.now() + 20_000).toISOString();
  const body = await account.api.accepted({ to: '500100207', text: 'x', send_at: sendAt });
  await account.api.post('/v1/blacklist', { msisdn: '500100207' });
  const { body: rejected } = await eventually(
    () => account.api.get(`/v1/messages/${body.id}`),
    (answer) => answer.body.status === 'rejected',
  );
  expect(rejected.cost_grosze).toBe(0);
  const { totals } = await report(account, '');
  expect(totals).toMatchObject({ rejected: 1, cost_grosze: 10, refunded_grosze: 10, net_grosze: 0 });
  expect(await books(account.id)).toMatchObject({ balance: 1000, ledger: 1000 });
});
