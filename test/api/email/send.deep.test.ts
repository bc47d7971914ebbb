import { expect, it } from 'vitest';
import { LEAST, type MailAccount, newMailAccount } from '../../support/email.ts';
import { eventually } from '../../support/eventually.ts';
import { books } from '../../support/factories.ts';
import { holdLock } from '../../support/heldBack.ts';

// In a deep test, because its lock of a table stops all other e-mails.
it('the same idx twice at once, with money for one, is one e-mail, also where the balance is read after the charge', async () => {
  const account = await newMailAccount({ balance: 1 });
  const email = { ...LEAST, idx: 'zam-8' };
  const ask = ({ v1 }: MailAccount) =>
    eventually(
      () => v1.post('/v1/email', email),
      ({ status }) => status !== 429,
    );
  const drafts = await holdLock(`select from accounts where id = '${account.id}' for update`);
  const first = ask(account);
  await drafts.somebodyWaits();
  const balances = await holdLock('lock table sender_domains');
  const second = ask(account);
  await balances.somebodyWaits();
  await drafts.release();
  const accepted = await first;
  await balances.release();
  expect(accepted.status).toBe(200);
  const replayed = await second;
  expect([replayed.status, replayed.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
  expect(replayed.body).toEqual(accepted.body);
  // Without an idx it is another e-mail, for which there is no money.
  expect((await account.v1.post('/v1/email', { ...email, idx: null })).status).toBe(402);
  expect(await books(account.id)).toMatchObject({ balance: 0, ledger: 0 });
});
