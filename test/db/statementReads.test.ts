import { describe, expect, test } from 'vitest';
import { newId } from '../../db/ids.ts';
import { monthlySum } from '../../db/money/statements.ts';
import { issueStatement } from '../../operations/money/statements.ts';
import { fileDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { rowsRead } from '../support/rowsRead.ts';

const MONTHS = 24;
const IN_A_MONTH = 100;
const MONTH = '2025-03';

const { sql } = await fileDatabase();

/** A postpaid account with charges on each of two years' months' 15th, each tenth of them refunded a month later. */
async function longStanding(): Promise<string> {
  const id = newId('cl');
  await sql`
    insert into accounts (id, name, mode, billing_mode, credit_limit_grosze) values (${id}, 'Ledger', 'live', 'postpaid', 1000000)`;
  const all = sql`generate_series(0, ${MONTHS - 1}::int) m, generate_series(1, ${IN_A_MONTH}::int) n`;
  const subject = sql`${id} || '_' || m || '_' || n`;
  await sql`
    insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze, give_up_at, route)
    select ${subject}, ${id}, 'r', 'delivered', 'queued', '+48500100200', 'x', 1, 15, now(), 'simulator' from ${all}`;
  const book = (kind: string, grosze: number, later: string) => sql`
    insert into ledger_entries (account_id, kind, amount_grosze, subject_kind, subject_id, created_at)
    select ${id}, ${kind}, ${grosze}, 'message', ${subject},
           timestamptz '2024-06-15 12:00:00Z' + m * interval '1 month' + ${later}::interval
      from ${all} where ${kind} = 'charge' or n % 10 = 0`;
  await book('charge', -15, '0 days');
  await book('refund', 15, '1 month');
  await sql`analyze ledger_entries, accounts`;
  return id;
}

const CHARGED = IN_A_MONTH;
const REFUNDED = IN_A_MONTH / 10;
const AMOUNT = 15 * (CHARGED - REFUNDED);

const issue = (account: string) =>
  issueStatement({
    services: {
      sql,
      temporal: () => Promise.reject(new Error('it needs none')),
      secretsKey: () => Promise.reject(new Error('it needs none')),
    },
    actor: { kind: 'staff', name: 'tester' },
    input: { account, month: MONTH },
  });

describe('the statement of an account with a long ledger', () => {
  test('reads the entries of its month, whatever came before and after', async () => {
    const account = await longStanding();
    const { answer, rows } = await rowsRead(sql, 'ledger_entries', (tx) => monthlySum(tx, account, MONTH));
    expect(answer).toEqual({ amount: AMOUNT, postpaidSince: null });
    expect(rows).toBe(CHARGED + REFUNDED);
  });

  test('keeps no charge waiting while it is summed', async () => {
    const account = await longStanding();
    let issued: ReturnType<typeof issue> | undefined;
    await sql.begin(async (tx) => {
      await tx`lock table ledger_entries in access exclusive mode`;
      issued = issue(account);
      await waiting('from bounds, accounts a');
      await tx`select from accounts where id = ${account} for no key update nowait`;
    });
    expect(await issued).toMatchObject({ amountGrosze: AMOUNT });
  });
});

/** Waits until a statement like this is seen waiting for a lock. */
async function waiting(statement: string): Promise<void> {
  await eventually(
    async () =>
      await sql`
      select from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and query like ${`%${statement}%`}`,
    (rows) => rows.length > 0,
  );
}
