import { Client, Connection } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import { type LedgerParts, reconcileLedgers } from '../../activities/reconciliation/money.ts';
import { reconciliationActivities } from '../../activities/reconciliation/reconciliation.ts';
import { newId } from '../../db/ids.ts';
import { readLedgerStates } from '../../db/money/ledger.ts';
import type { Tally } from '../../workflows/contracts.ts';
import { commandLine, ownDatabase } from '../admin/support.ts';
import { rowsRead } from '../support/rowsRead.ts';

const database = ownDatabase();
const { run, ok } = commandLine(database.url);
const sql = () => database.sql();

/** An account with so many entries of a grosz, of two hours ago. */
async function longLedger(entries: number): Promise<string> {
  const id = newId('cl');
  await sql()`insert into accounts (id, name) values (${id}, 'Test')`;
  await sql()`
    insert into ledger_entries (account_id, kind, amount_grosze, created_at)
    select ${id}, 'adjustment', 1, now() - interval '2 hours' from generate_series(1, ${entries}::int)`;
  return id;
}

/** Moves a balance past its ledger. */
async function shift(account: string, by: number): Promise<void> {
  await sql()`alter table accounts disable trigger accounts_balance_guard`;
  await sql()`update accounts set balance_grosze = balance_grosze + ${by} where id = ${account}`;
  await sql()`alter table accounts enable trigger accounts_balance_guard`;
}

/** Notes a check of an account's whole ledger that came to this. */
async function note(account: string, grosze: string): Promise<void> {
  await sql()`
    insert into ledger_checks (account_id, entry_id, sum_grosze, sum_test_credits)
    select ${account}, max(id), ${grosze}::text::bigint, 0 from ledger_entries where account_id = ${account}
    on conflict (account_id) do update set sum_grosze = excluded.sum_grosze`;
}

const noted = async (account: string): Promise<unknown> =>
  (await sql()`select sum_grosze from ledger_checks where account_id = ${account}`)[0]?.['sumGrosze'];

const findings = async (): Promise<unknown[]> =>
  (await sql()`select subject from findings where kind = 'ledger_differs' and state = 'open'`).map(
    ({ subject }) => subject as unknown,
  );

const check = (parts?: LedgerParts): Promise<Tally> =>
  new MockActivityEnvironment().run(() => reconcileLedgers(sql(), parts));

describe('the ledger of an account', () => {
  test('is summed up from the last check on', async () => {
    const account = await longLedger(5_000);
    await check();
    await sql()`insert into ledger_entries (account_id, kind, amount_grosze) values (${account}, 'adjustment', 7)`;
    const { answer, rows } = await rowsRead(sql(), 'ledger_entries', (tx) => readLedgerStates(tx, [account]));
    expect(answer.get(account)).toMatchObject({ balanceGrosze: 5_007, sumGrosze: 5_007, agrees: true });
    expect(rows).toBe(1);
  });

  test('where it differs, the command says who sums it up again', async () => {
    const account = await longLedger(3);
    await note(account, '999');
    expect(await ok('ledger', '--account', account)).toMatchObject({ sum_grosze: 999, agrees: false });
    expect((await run('ledger', '--account', account)).out).toContain('findings list');
    await check();
    expect(await ok('ledger', '--account', account)).toMatchObject({ sum_grosze: 3, agrees: true });
    expect((await run('ledger', '--account', account)).out).not.toContain('findings list');
  });
});

describe('a check of long ledgers', () => {
  test('goes on in parts until all that is settled is summed up', async () => {
    const account = await longLedger(10);
    await sql()`insert into ledger_entries (account_id, kind, amount_grosze) values (${account}, 'adjustment', 7)`;
    await check({ entries: 3, steps: 1 });
    expect(await noted(account)).toBe(10);
  });

  test('takes as many runs as it needs to sum one up again, and reports it once it differs in all', async () => {
    const [mistaken, wrong] = [await longLedger(10), await longLedger(10)];
    await note(mistaken, '999');
    await shift(wrong, 5);
    const parts = { entries: 3, steps: 2 };
    for (const runs of [1, 2]) {
      expect(await check(parts), `run ${runs}`).toMatchObject({ reported: 0 });
      expect(await noted(mistaken)).toBe(999);
    }
    expect(await check(parts)).toMatchObject({ reported: 1 });
    expect(await noted(mistaken)).toBe(10);
    expect(await findings()).toEqual([wrong]);
    await shift(wrong, -5);
    await check(parts);
    expect(await findings()).toEqual([]);
  });

  test('that fails for one account is made of the others, and refunds are looked at', async () => {
    const [broken, wrong] = [await longLedger(1), await longLedger(1)];
    // With the next entry its sum is beyond what the column holds.
    await note(broken, '9223372036854775807');
    await sql()`
      insert into ledger_entries (account_id, kind, amount_grosze, created_at)
      values (${broken}, 'adjustment', 1, now() - interval '2 hours')`;
    await shift(wrong, 5);
    const owed = newId('msg');
    await sql()`
      insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze, give_up_at, route)
      values (${owed}, ${broken}, ${owed}, 'failed', 'queued', '+48500100200', '', 1, 1, now(), 'simulator')`;
    await sql()`
      insert into ledger_entries (account_id, kind, amount_grosze, subject_kind, subject_id)
      values (${broken}, 'charge', -1, 'message', ${owed})`;

    const client = new Client({ connection: Connection.lazy() });
    const steps = reconciliationActivities(sql(), client);
    const work = new MockActivityEnvironment().run(() => steps.reconcileMoney());
    await expect(work).rejects.toThrow('bigint out of range');
    await client.connection.close();
    expect(await findings()).toEqual([wrong]);
    expect(
      await sql()`select from ledger_entries where subject_id = ${owed} and kind = 'refund'`,
    ).toHaveLength(1);
  });
});
