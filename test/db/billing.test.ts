import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase, type Sql, SQLSTATE } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { chargeRequest } from '../../db/money/billing.ts';
import { startDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';

let sql: Database;
let url: string;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ sql, url, stop } = await startDatabase());
});
afterAll(() => stop());

interface Funds {
  billing: 'prepaid' | 'postpaid';
  balance: number;
  creditLimit?: number;
  credits?: number;
}

/** An account with these funds, and a request of drafts that cost it so much each. */
async function draftsOf(funds: Funds, costs: number[]): Promise<{ account: string; request: string }> {
  const [account, request] = [newId('cl'), newId('req')];
  const { billing, balance, creditLimit = 0, credits = 0 } = funds;
  await sql`
    insert into accounts (id, name, mode, billing_mode, credit_limit_grosze)
    values (${account}, 'A', ${credits > 0 ? 'test' : 'live'}, ${billing}, ${creditLimit})`;
  await sql`
    insert into ledger_entries (account_id, kind, amount_grosze, test_credits)
    values (${account}, 'opening', ${balance}, ${credits})`;
  for (const cost of costs) {
    await sql`
      insert into messages (id, account_id, request_id, accepted_as, recipient, text, parts, cost_grosze, test_credits,
                            give_up_at, route)
      values (${newId('msg')}, ${account}, ${request}, 'queued', '+48500100200', 'x', 1, ${cost},
              ${credits > 0 ? 1 : 0}, now() + interval '3 days', 'r')`;
  }
  return { account, request };
}

const CASES: [Funds, number[], boolean][] = [
  [{ billing: 'prepaid', balance: 30 }, [10, 20], true],
  [{ billing: 'prepaid', balance: 29 }, [10, 20], false],
  [{ billing: 'prepaid', balance: 0 }, [1], false],
  [{ billing: 'postpaid', balance: 0, creditLimit: 30 }, [10, 20], true],
  [{ billing: 'postpaid', balance: 0, creditLimit: 29 }, [10, 20], false],
  [{ billing: 'postpaid', balance: 5, creditLimit: 25 }, [10, 20], true],
  [{ billing: 'postpaid', balance: 4, creditLimit: 25 }, [10, 20], false],
  [{ billing: 'prepaid', balance: 0, credits: 2 }, [10, 20], true],
  [{ billing: 'prepaid', balance: 1000, credits: 1 }, [10, 20], false],
];

test.each(CASES)('with %o, drafts for %o are charged together or not at all', async (funds, costs, paid) => {
  const { account, request } = await draftsOf(funds, costs);
  const answer = await chargeRequest(sql, request);
  expect(answer).toEqual(paid ? { accepted: true } : { accepted: false, reason: 'insufficient_funds' });
  const [books] = await sql`
    select balance_grosze as balance, test_credits as credits,
           (select sum(amount_grosze)::int from ledger_entries where account_id = a.id) as ledger
      from accounts a where id = ${account}`;
  const inCredits = funds.credits !== undefined;
  const balance = funds.balance - (paid && !inCredits ? costs.reduce((sum, cost) => sum + cost, 0) : 0);
  const credits = (funds.credits ?? 0) - (paid && inCredits ? costs.length : 0);
  expect(books).toEqual({ balance, ledger: balance, credits });
});

test('two requests at once, each for the last grosz: one is charged', async () => {
  const { account, request } = await draftsOf({ billing: 'postpaid', balance: 0, creditLimit: 10 }, [10]);
  const other = newId('req');
  await sql`
    insert into messages (id, account_id, request_id, accepted_as, recipient, text, parts, cost_grosze, give_up_at, route)
    select ${newId('msg')}, account_id, ${other}, accepted_as, recipient, text, parts, cost_grosze, give_up_at, route
      from messages where request_id = ${request}`;
  const answers = await Promise.all([chargeRequest(sql, request), chargeRequest(sql, other)]);
  expect(answers.filter(({ accepted }) => accepted)).toHaveLength(1);
  const [row] = await sql`select balance_grosze as balance from accounts where id = ${account}`;
  expect(row).toEqual({ balance: -10 });
});

test.each([
  [29, true],
  [30, false],
])('a draft of %i seconds: charged is %o', async (seconds, paid) => {
  const { account, request } = await draftsOf({ billing: 'prepaid', balance: 10 }, [10]);
  await sql`
    update messages set created_at = clock_timestamp() - make_interval(secs => ${seconds}) where request_id = ${request}`;
  expect(await chargeRequest(sql, request)).toEqual(
    paid ? { accepted: true } : { accepted: false, reason: 'too_late' },
  );
  const [row] = await sql`select balance_grosze as balance from accounts where id = ${account}`;
  expect(row).toEqual({ balance: paid ? 0 : 10 });
  // Asked again it is charged no second time.
  await chargeRequest(sql, request);
  const charges = await sql`select from ledger_entries where account_id = ${account} and kind = 'charge'`;
  expect(charges.count).toBe(paid ? 1 : 0);
});

/** Does something while another transaction has locked what `lock` locks. */
async function whileLocked(lock: (own: Sql) => Promise<unknown>, work: () => Promise<void>): Promise<void> {
  await sql.begin(async (own) => {
    await lock(own);
    await work();
  });
}

const LOCKS: [string, (account: string, request: string) => (own: Sql) => Promise<unknown>][] = [
  [
    'the money of its account',
    (account) => (own) => own`select from accounts where id = ${account} for no key update`,
  ],
  ['its draft', (_, request) => (own) => own`select from messages where request_id = ${request} for update`],
];

test.each(LOCKS)(
  'a charge that waits for locks only so long gives up while another transaction has %s, and can be repeated',
  async (_, lock) => {
    const { account, request } = await draftsOf({ billing: 'prepaid', balance: 15 }, [10]);
    // One connection: whatever a charge leaves behind on it, the next one has.
    const one = openDatabase(url, 1);
    try {
      await whileLocked(lock(account, request), async () => {
        const charging = chargeRequest(one, request, 50);
        await expect(charging).rejects.toMatchObject({ code: SQLSTATE.lockNotAvailable });
      });
      expect([...(await one`show lock_timeout`)]).toEqual([{ lockTimeout: '0' }]);
      const [draft] = await sql`select status from messages where request_id = ${request}`;
      expect(draft).toEqual({ status: 'draft' });
      expect(await chargeRequest(one, request, 50)).toEqual({ accepted: true });
      expect([...(await one`show lock_timeout`)]).toEqual([{ lockTimeout: '0' }]);
      const [row] = await sql`select balance_grosze as balance from accounts where id = ${account}`;
      expect(row).toEqual({ balance: 5 });
    } finally {
      await one.end({ timeout: 1 });
    }
  },
);

test.each([undefined, 60_000])(
  'a draft that another transaction changes meanwhile is charged as it is afterwards, with a time for locks of %o',
  async (lockMs) => {
    const { account, request } = await draftsOf({ billing: 'prepaid', balance: 30 }, [10]);
    let charging: Promise<unknown> | undefined;
    const change = (own: Sql) => own`update messages set cost_grosze = 25 where request_id = ${request}`;
    await whileLocked(change, async () => {
      charging = chargeRequest(sql, request, lockMs);
      await eventually(waitingForLocks, (count) => count > 0);
    });
    expect(await charging).toEqual({ accepted: true });
    const [row] = await sql`select balance_grosze as balance from accounts where id = ${account}`;
    expect(row).toEqual({ balance: 5 });
  },
);

const waitingForLocks = async (): Promise<number> =>
  (
    await sql`
      select from pg_stat_activity where datname = current_database() and wait_event in ('transactionid', 'tuple')`
  ).count;
