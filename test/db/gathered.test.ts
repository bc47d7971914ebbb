import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Database, openDatabase, type Sql } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { type Draft, writeSingles } from '../../db/messages/drafts.ts';
import { abandonRequest } from '../../db/messages/undecided.ts';
import { chargeRequest } from '../../db/money/billing.ts';
import { chargeTogether } from '../../db/money/gathered.ts';
import { type FarDatabase, startFarDatabase } from '../support/database.ts';
import { draftOf, singleOf } from '../support/drafts.ts';
import { eventually } from '../support/eventually.ts';

let server: FarDatabase;
let sql: Database;
let stop: () => Promise<void>;
beforeAll(async () => {
  server = await startFarDatabase();
  ({ sql, stop } = server);
});
afterAll(() => stop());

interface Funds {
  balance: number;
  billing?: 'prepaid' | 'postpaid';
  creditLimit?: number;
  credits?: number;
}

async function newAccount({ balance, billing = 'prepaid', creditLimit = 0, credits = 0 }: Funds) {
  const id = newId('cl');
  await sql`
    insert into accounts (id, name, mode, billing_mode, credit_limit_grosze)
    values (${id}, 'A', ${credits > 0 ? 'test' : 'live'}, ${billing}, ${creditLimit})`;
  await sql`
    insert into ledger_entries (account_id, kind, amount_grosze, test_credits)
    values (${id}, 'opening', ${balance}, ${credits})`;
  return id;
}

async function written(account: string, costs: number[], other: Partial<Draft> = {}): Promise<string[]> {
  const drafts = costs.map((cost) => draftOf(account, cost, other));
  expect(
    (
      await writeSingles(
        sql,
        drafts.map((one) => singleOf(one)),
      )
    ).size,
  ).toBe(costs.length);
  return drafts.map(({ requestId }) => requestId);
}

async function statusOf(requestId: string): Promise<string | null> {
  const [row] = await sql<{ status: string }[]>`select status from messages where request_id = ${requestId}`;
  return row?.status ?? null;
}

async function books(account: string) {
  const [row] = await sql<{ balance: number; ledger: number; credits: number }[]>`
    select balance_grosze as balance, test_credits as credits,
           (select sum(amount_grosze)::bigint from ledger_entries where account_id = a.id) as ledger
      from accounts a where id = ${account}`;
  return row!;
}

/** Keeps rows locked as another transaction would. */
async function holding(lock: (own: Sql) => Promise<unknown>): Promise<() => Promise<void>> {
  const own = await sql.reserve();
  await own`begin`;
  await lock(own);
  return async () => {
    await own`rollback`;
    own.release();
  };
}

describe('requests charged together', () => {
  test('are each charged for itself: whoever cannot pay is refused alone, and its key is free again', async () => {
    const [rich, poor] = [await newAccount({ balance: 100 }), await newAccount({ balance: 25 })];
    const drafts = [draftOf(rich, 10), draftOf(poor, 20), draftOf(poor, 20), draftOf(poor, 5)];
    await writeSingles(
      sql,
      drafts.map((draft, i) => singleOf(draft, `k${i}`)),
    );
    const ids = drafts.map(({ requestId }) => requestId);
    const id = newId('acc');
    expect(await chargeTogether(sql, id, ids)).toEqual({
      accepted: expect.arrayContaining([ids[0], ids[1], ids[3]]) as string[],
      refused: { [ids[2]!]: 'insufficient_funds' },
      left: [],
    });
    expect(await Promise.all(ids.map(statusOf))).toEqual(['queued', 'queued', null, 'queued']);
    expect(await books(rich)).toEqual({ balance: 90, ledger: 90, credits: 0 });
    expect(await books(poor)).toEqual({ balance: 0, ledger: 0, credits: 0 });
    const keys =
      await sql`select key, state from idempotency_keys where request_id = any(${ids}) order by key`;
    expect([...keys]).toEqual([0, 1, 3].map((i) => ({ key: `k${i}`, state: 'accepted' })));
    const marked = await sql`select from messages where gathered_in = ${id}`;
    expect(marked.count).toBe(3);
  });

  test.each<[Funds, number[], number]>([
    [{ balance: 0, billing: 'postpaid', creditLimit: 30 }, [10, 20, 1], 2],
    [{ balance: -5, billing: 'postpaid', creditLimit: 4 }, [1, 0], 1],
    [{ balance: 0, credits: 2 }, [10, 10, 10], 2],
  ])('of an account with %o, of %o so many are paid: %i', async (funds, costs, count) => {
    const account = await newAccount(funds);
    const ids = await written(account, costs, { testCredits: funds.credits === undefined ? 0 : 1 });
    const { accepted, left } = await chargeTogether(sql, newId('acc'), ids);
    expect([accepted.length, left]).toEqual([count, []]);
    const { balance, ledger } = await books(account);
    expect(balance).toBe(ledger);
  });

  test('are not charged again when it is repeated, whatever was lost in between', async () => {
    const account = await newAccount({ balance: 15 });
    const ids = await written(account, [10, 10]);
    const [id] = [newId('acc')];
    const first = await chargeTogether(sql, id, ids);
    const again = await chargeTogether(sql, id, ids);
    expect(again.accepted).toEqual(first.accepted);
    // What was refused is gone: nobody knows any more why.
    expect(Object.values(again.refused)).toEqual(['abandoned']);
    expect(await books(account)).toMatchObject({ balance: 5, ledger: 5 });
  });

  test('one that its caller gave up on is left alone; one whose caller is giving up is not waited for', async () => {
    const account = await newAccount({ balance: 100 });
    const ids = await written(account, [10, 10, 10]);
    expect(await abandonRequest(sql, ids[0]!)).toBe('abandoned');
    const letGo = await holding((own) => own`select from messages where request_id = ${ids[1]!} for update`);
    const decided = await chargeTogether(sql, newId('acc'), ids);
    await letGo();
    expect(decided).toEqual({ accepted: [ids[2]], refused: { [ids[0]!]: 'abandoned' }, left: [ids[1]] });
    expect(await chargeRequest(sql, ids[1]!)).toEqual({ accepted: true });
    expect(await abandonRequest(sql, ids[2]!)).toBe('charged');
    expect(await books(account)).toMatchObject({ balance: 80, ledger: 80 });
  });

  test('one that is too old is refused, and nobody with it', async () => {
    const account = await newAccount({ balance: 100 });
    const [old] = await written(account, [10], { createdAt: new Date(Date.now() - 31_000) });
    const [young] = await written(account, [10]);
    expect(await chargeTogether(sql, newId('acc'), [old!, young!])).toEqual({
      ...{ accepted: [young], refused: { [old!]: 'too_late' }, left: [] },
    });
  });

  test('an account whose money another transaction holds keeps nobody else waiting, and is left', async () => {
    const [held, free] = [await newAccount({ balance: 100 }), await newAccount({ balance: 100 })];
    const [one] = await written(held, [10]);
    const [other] = await written(free, [10]);
    const letGo = await holding((own) => own`select from accounts where id = ${held} for no key update`);
    const decided = await chargeTogether(sql, newId('acc'), [one!, other!]);
    await letGo();
    expect(decided).toEqual({ accepted: [other], refused: {}, left: [one] });
    expect(await statusOf(one!)).toBe('draft');
  });

  test('an account whose money is free again in a moment is waited for', async () => {
    const account = await newAccount({ balance: 100 });
    const ids = await written(account, [10, 10]);
    const letGo = await holding((own) => own`select from accounts where id = ${account} for no key update`);
    const waits = async () =>
      (
        await sql`
          select from pg_stat_activity where datname = current_database() and wait_event in ('transactionid', 'tuple')`
      ).count > 0;
    // It waits for a moment only, which a busy machine may miss: it is asked again until it was seen to wait.
    for (let seen = false; !seen;) {
      let ended = false;
      const deciding = chargeTogether(sql, newId('acc'), ids).finally(() => (ended = true));
      while (!seen && !ended) seen = await waits();
      if (seen) await letGo();
      const { accepted, refused, left } = await deciding;
      expect(refused).toEqual({});
      expect([accepted.length, left.length]).toEqual(accepted.length > 0 ? [2, 0] : [0, 2]);
      if (!seen) expect(left).toHaveLength(2);
      // Where it had waited for too long by then, it is asked again, as by a worker.
      else if (left.length > 0)
        expect((await chargeTogether(sql, newId('acc'), ids)).accepted).toHaveLength(2);
    }
    expect(await books(account)).toMatchObject({ balance: 80, ledger: 80 });
  });

  test('accounts whose money a process has in hand that stands still in the middle are free again soon', async () => {
    const accounts = [await newAccount({ balance: 100 }), await newAccount({ balance: 100 })];
    const ids = (
      await Promise.all(accounts.map((account) => written(account, [10], { text: 'slow' })))
    ).flat();
    await sql.unsafe(`
      create table may_go_on (at timestamptz);
      -- What is written into it outlives a transaction that is undone.
      create sequence seconds_left;
      create function wait_to_go_on() returns trigger language plpgsql as $$
      begin
        perform setval('seconds_left', extract(epoch from current_setting('transaction_timeout')::interval)::bigint);
        while not exists (select from may_go_on) loop perform pg_sleep(0.01); end loop;
        return new;
      end $$;
      create trigger wait_to_go_on before update on messages for each row
        when (new.text = 'slow') execute function wait_to_go_on()`);
    // As a worker's: its connections have a time for transactions already.
    const far = openDatabase(server.farUrl, 1, 5_000);
    const charging = chargeTogether(far, newId('acc'), ids).catch((error: unknown) => error);
    try {
      const limit = () => sql`select last_value as seconds from seconds_left where is_called`;
      const free = () => sql`select from accounts where id = any(${accounts}) for update skip locked`;
      const [limited] = await eventually(limit, ({ length }) => length > 0);
      expect(Number(limited!['seconds'])).toBe(3);
      server.proxy.strand();
      await sql`insert into may_go_on values (now())`;
      await eventually(free, ({ length }) => length === 2);
      expect(await Promise.all(ids.map(statusOf))).toEqual(['draft', 'draft']);
      expect((await chargeTogether(sql, newId('acc'), ids)).accepted).toHaveLength(2);
      for (const account of accounts) expect(await books(account)).toMatchObject({ balance: 90, ledger: 90 });
    } finally {
      await sql`drop trigger wait_to_go_on on messages`;
      await far.end({ timeout: 1 });
      expect(await charging).toBeInstanceOf(Error);
    }
  });

  test('one that cannot be charged at all leaves each of them to a charge of its own', async () => {
    const account = await newAccount({ balance: 100 });
    const ids = await written(account, [10, 10]);
    await sql`
      create function break_one() returns trigger language plpgsql as $$
      begin
        if new.text = 'broken' then raise exception 'broken'; end if;
        return new;
      end $$`;
    await sql`create trigger break_one before update on messages for each row execute function break_one()`;
    const [broken] = await written(account, [10], { text: 'broken' });
    try {
      const all = [...ids, broken!];
      expect(await chargeTogether(sql, newId('acc'), all)).toMatchObject({ accepted: [], left: all });
      expect(await chargeRequest(sql, ids[0]!)).toEqual({ accepted: true });
      await expect(chargeRequest(sql, broken!)).rejects.toThrow('broken');
      expect(await books(account)).toMatchObject({ balance: 90, ledger: 90 });
    } finally {
      await sql`drop trigger break_one on messages`;
    }
  });

  test('several calls at once, of the same accounts and in any order, decide as one after the other would', async () => {
    const call = fc.array(fc.record({ account: fc.nat(2), cost: fc.nat(40) }), {
      minLength: 1,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(call, { minLength: 1, maxLength: 4 }),
        fc.array(fc.nat(150), { minLength: 3, maxLength: 3 }),
        async (calls, balances) => {
          const accounts = await Promise.all(balances.map((balance) => newAccount({ balance })));
          const requests = await Promise.all(
            calls.map(async (asked) => {
              const drafts = asked.map(({ account, cost }) => draftOf(accounts[account]!, cost));
              await writeSingles(
                sql,
                drafts.map((one) => singleOf(one)),
              );
              return drafts;
            }),
          );
          const answers = new Map<string, boolean>();
          await Promise.all(
            requests.map(async (drafts) => {
              const ids = drafts.map(({ requestId }) => requestId);
              const { accepted, refused, left } = await chargeTogether(sql, newId('acc'), ids);
              for (const one of accepted) answers.set(one, true);
              for (const one of Object.keys(refused)) answers.set(one, false);
              for (const one of left) answers.set(one, (await chargeRequest(sql, one)).accepted);
            }),
          );
          for (const [i, account] of accounts.entries()) {
            const own = requests.flat().filter(({ accountId }) => accountId === account);
            const paid = own.filter(({ requestId }) => answers.get(requestId) === true);
            const left = balances[i]! - paid.reduce((sum, { costGrosze }) => sum + costGrosze, 0);
            expect(left).toBeGreaterThanOrEqual(0);
            expect(await books(account)).toMatchObject({ balance: left, ledger: left });
            // In some order: at the end nobody was refused who could still have paid.
            for (const { requestId, costGrosze } of own) {
              if (answers.get(requestId) === false) expect(costGrosze).toBeGreaterThan(left);
              expect(await statusOf(requestId)).toBe(answers.get(requestId) === true ? 'queued' : null);
            }
          }
        },
      ),
      { numRuns: 20 },
    );
  });
});

describe('drafts written together', () => {
  test('claim their keys each for itself: one whose key is taken is not written, and the others are', async () => {
    const account = await newAccount({ balance: 100 });
    const [first, second, third, fourth] = Array.from({ length: 4 }, () => draftOf(account, 1));
    expect(await writeSingles(sql, [singleOf(first!, 'a')])).toEqual(new Set([first!.requestId]));
    const written = await writeSingles(sql, [
      ...[singleOf(second!, 'b'), singleOf(third!, 'a'), singleOf(fourth!)],
    ]);
    expect(written).toEqual(new Set([second!.requestId, fourth!.requestId]));
    expect(await statusOf(third!.requestId)).toBeNull();
    const [key] =
      await sql`select request_id, accepted_body from idempotency_keys where account_id = ${account} and key = 'b'`;
    expect(key).toEqual({ requestId: second!.requestId, acceptedBody: { id: second!.id } });
  });

  test('the same key of two accounts is two keys; a key that is older than a day is free', async () => {
    const [a, b] = [await newAccount({ balance: 1 }), await newAccount({ balance: 1 })];
    const [first, second, third] = [draftOf(a, 1), draftOf(b, 1), draftOf(a, 1)];
    expect((await writeSingles(sql, [singleOf(first, 'k'), singleOf(second, 'k')])).size).toBe(2);
    await sql`update idempotency_keys set created_at = now() - interval '25 hours' where account_id = ${a}`;
    expect(await writeSingles(sql, [singleOf(third, 'k')])).toEqual(new Set([third.requestId]));
  });

  test('wait for a key that another transaction has claimed only so long, and nothing is written then', async () => {
    const account = await newAccount({ balance: 1 });
    const [first, second] = [draftOf(account, 1), draftOf(account, 1)];
    const both = [singleOf(first, 'free'), singleOf(second, 'claimed')];
    // One connection: whatever a statement leaves behind on it, the next one has.
    const one = openDatabase(server.url, 1);
    const letGo = await holding((own) => writeSingles(own, [singleOf(draftOf(account, 1), 'claimed')]));
    try {
      await expect(writeSingles(one, both, 50)).rejects.toMatchObject({ code: '55P03' });
    } finally {
      await letGo();
    }
    expect([...(await one`show lock_timeout`)]).toEqual([{ lockTimeout: '0' }]);
    expect(await statusOf(first.requestId)).toBeNull();
    expect((await writeSingles(one, both, 50)).size).toBe(2);
    await one.end({ timeout: 1 });
  });
});
