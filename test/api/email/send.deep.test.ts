import { expect, it } from 'vitest';
import { GROSZE_AN_ADDRESS } from '../../../domain/email/address.ts';
import { LEAST, type MailAccount, newMailAccount, postEmail, takenFrom } from '../../support/email.ts';
import { eventually } from '../../support/eventually.ts';
import { books, database } from '../../support/factories.ts';
import { holdLock } from '../../support/heldBack.ts';

const rows = async (accountId: string): Promise<number> => {
  const [row] = await database()<{ count: number }[]>`
    select count(*)::int as count from emails where account_id = ${accountId}`;
  return row!.count;
};

it('sixty at once spend all that there is, and no more', async () => {
  const account = await newMailAccount({ balance: 30 });
  const affordable = 30 / GROSZE_AN_ADDRESS;
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, index) => {
      const email = { ...LEAST, to: `jan${index}@klient.example`, idx: `nr ${index}` };
      return eventually(
        () => postEmail(account.v1, email),
        ({ status }) => status !== 429,
      );
    }),
  );
  const statuses = answers.map(({ status }) => status);
  const accepted = statuses.filter((status) => status === 200).length;
  expect(statuses.filter((status) => status === 402)).toHaveLength(60 - accepted);
  // What one had reserved that was not decided in time is there for others, to the last of it.
  for (let late = accepted; late < affordable; late += 1) await takenFrom(account, {});
  expect((await account.v1.post('/v1/email', LEAST)).status).toBe(402);
  expect(await books(account.id)).toMatchObject({ balance: 0, ledger: 0 });
  expect(await rows(account.id)).toBe(affordable);
});

// While it has a table locked nobody else sends e-mail.
it('the same idx twice at once, with money for one, is one e-mail also to whoever asked before the charge and looked at the balance after it', async () => {
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
