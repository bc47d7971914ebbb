import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { database, newAccount, storedMessages, type TestAccount } from '../support/factories.ts';
import { expectLinksToWork, rowsOf } from '../support/leftRows.ts';

const LINKS = '{{link:https://example.com/a}} {{opt_out}}';
const later = new Date(Date.now() + 86_400_000).toISOString();
const many = (count: number) => Array.from({ length: count }, (_, i) => `+48500${String(200_000 + i)}`);

/** Holds the account's charges until `work` is done, then takes money away and lets them go on. */
async function whileChargesWait<T>(
  { id }: TestAccount,
  grosze: number,
  drafts: number,
  work: () => Promise<T>,
): Promise<T> {
  let answers: Promise<T> | undefined;
  await database().begin(async (tx) => {
    await tx`select from accounts where id = ${id} for no key update`;
    answers = work();
    answers.catch(() => undefined);
    await eventually(
      () => storedMessages(id),
      (stored) => stored.length === drafts,
    );
    await tx`insert into ledger_entries (account_id, kind, amount_grosze) values (${id}, 'adjustment', ${-grosze})`;
  });
  return await answers!;
}

describe('a charge that refuses', () => {
  it('takes all that was written for it away with it, the key too', async () => {
    const account = await newAccount({ balance: 50, price: 10 });
    const before = await rowsOf(account);
    const body = { to: many(5), text: LINKS };
    const answer = await whileChargesWait(account, 1, 5, () => account.api.send(body, 'k'));
    expect([answer.status, answer.body.error.code]).toEqual([402, 'insufficient_funds']);
    expect(await rowsOf(account)).toEqual({ ...before, ledger_entries: 2 });
    await database()`insert into ledger_entries (account_id, kind, amount_grosze) values (${account.id}, 'topup', 1)`;
    const again = await account.api.send({ ...body, text: 'y' }, 'k');
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, null]);
  });

  it('leaves a link that another message of the account has found meanwhile', async () => {
    const account = await newAccount({ balance: 100, price: 10 });
    const one = { to: '+48500200000', text: LINKS, send_at: later };
    const [refused, sent] = await whileChargesWait(account, 90, 2, async () => {
      const dearer = account.api.send({ ...one, priority: true });
      await eventually(
        () => storedMessages(account.id),
        (stored) => stored.length === 1,
      );
      return await Promise.all([dearer, account.api.send(one)]);
    });
    expect([refused.status, sent.status]).toEqual([402, 201]);
    await expectLinksToWork(sent);
    expect(await rowsOf(account)).toMatchObject({
      messages: 1,
      message_links: 1,
      tracked_links: 1,
      opt_out_links: 1,
    });
  });
});
