import { describe, expect, test } from 'vitest';
import { ToolBudgetError } from '../../db/accounts/quotas.ts';
import { newId } from '../../db/ids.ts';
import {
  abandonLookup,
  acceptLookup,
  failLookup,
  finishLookup,
  openLookup,
} from '../../db/lookups/lookups.ts';
import { InsufficientFundsError, settleReservation } from '../../db/money/reservations.ts';
import { fileDatabase } from '../support/database.ts';

const NUMBER = '+48500100200';
const FINDING = { status: 'active', network: null, mcc: null, mnc: null, ported: null } as const;

const { sql } = await fileDatabase();

interface Account {
  id: string;
  keyId: string;
}

async function accountWith(balance: number, budget: number | null = null): Promise<Account> {
  const [id, keyId] = [newId('cl'), newId('key')];
  await sql`insert into accounts (id, name, mode) values (${id}, 'A', 'live')`;
  await sql`insert into ledger_entries (account_id, kind, amount_grosze) values (${id}, 'topup', ${balance})`;
  await sql`
    insert into api_keys (id, account_id, hash, hint, mode, scopes, tool_budget_grosze)
    values (${keyId}, ${id}, ${Buffer.from(keyId)}, 'x', 'live', '{send}', ${budget})`;
  return { id, keyId };
}

const accept = ({ id: accountId, keyId }: Account, costGrosze = 5, msisdn = NUMBER) =>
  acceptLookup(sql, {
    ...{ id: newId('hlr'), accountId, msisdn, route: 'simulator', costGrosze },
    spending: costGrosze === 0 ? null : { keyId, costGrosze },
  });

async function acceptedBy(account: Account): Promise<string> {
  const accepted = await accept(account);
  if (accepted?.own !== true) throw new Error('another one is under way');
  return accepted.id;
}

/** Everything that a look-up moves. */
async function booksOf({ id, keyId }: Account) {
  const [books] = await sql`
    select balance_grosze as balance,
           (select coalesce(sum(grosze), 0)::int from tool_spending where key_id = ${keyId}) as spent,
           (select count(*)::int from number_lookups where account_id = ${id}) as lookups,
           (select count(*)::int from ledger_entries where account_id = ${id} and kind <> 'topup') as entries,
           (select count(*)::int from reservations where account_id = ${id}) as reservations
      from accounts where id = ${id}`;
  return { ...books };
}

describe('a look-up that is accepted', () => {
  test('is charged and reserved, and left alone by workers for ten seconds', async () => {
    const account = await accountWith(100, 5);
    const id = await acceptedBy(account);
    expect(await booksOf(account)).toEqual({
      balance: 95,
      spent: 5,
      lookups: 1,
      entries: 1,
      reservations: 1,
    });
    const [reserved] = await sql`
      select kind, extract(epoch from start_after - now()) > 8 as waits from reservations where subject_id = ${id}`;
    expect(reserved).toEqual({ kind: 'lookup', waits: true });
  });

  test('is the only one of its number: others join it for nothing, however many and whatever is left', async () => {
    const account = await accountWith(5, 5);
    const all = await Promise.all(Array.from({ length: 20 }, () => accept(account)));
    expect(all.filter((one) => one?.own)).toHaveLength(1);
    expect(new Set(all.map((one) => one?.id)).size).toBe(1);
    expect(await accept(await accountWith(5))).toMatchObject({ own: true });
    expect(await accept(account)).toMatchObject({ id: all[0]!.id, own: false });
    expect(await booksOf(account)).toEqual({ balance: 0, spent: 5, lookups: 1, entries: 1, reservations: 1 });
  });

  test('is taken back where another one found the number in between', async () => {
    const account = await accountWith(100, 100);
    await finishLookup(sql, await acceptedBy(account), FINDING);
    expect(await accept(account)).toBeNull();
    expect(await booksOf(account)).toMatchObject({ balance: 95, spent: 5, lookups: 1, entries: 1 });
  });

  test.each([
    ['the account cannot pay', 4, 100, InsufficientFundsError],
    ['the budget does not cover', 100, 4, ToolBudgetError],
  ])('leaves nothing where it is one that %s', async (_, balance, budget, refusal) => {
    const account = await accountWith(balance, budget);
    await expect(accept(account)).rejects.toThrow(refusal);
    expect(await booksOf(account)).toEqual({ balance, spent: 0, lookups: 0, entries: 0, reservations: 0 });
  });
});

describe('a look-up without a result', () => {
  const REFUNDED = { balance: 100, spent: 0, lookups: 1, entries: 2 };

  test('is refunded once, to the budget as well', async () => {
    const account = await accountWith(100, 5);
    const id = await acceptedBy(account);
    await Promise.all([failLookup(sql, id, 'failed'), failLookup(sql, id, 'timed_out')]);
    expect(await booksOf(account)).toMatchObject(REFUNDED);
    const [{ state }, late] = [
      await failLookup(sql, id, 'timed_out'),
      await finishLookup(sql, id, FINDING),
    ] as const;
    expect([state, late.state]).toEqual(['failed', 'failed']);
  });

  test('gives back to the day that it was charged on', async () => {
    const account = await accountWith(100, 5);
    const id = await acceptedBy(account);
    await sql`update tool_spending set day = '2026-01-14' where key_id = ${account.keyId}`;
    await sql`update number_lookups set tool_day = '2026-01-14' where id = ${id}`;
    await accept(account, 5, '+48500100201');
    await failLookup(sql, id, 'failed');
    const days = await sql`select grosze from tool_spending where key_id = ${account.keyId} order by day`;
    expect(days.map(({ grosze }) => grosze as number)).toEqual([0, 5]);
  });

  test('is abandoned once, as long as no workflow has taken it up', async () => {
    const account = await accountWith(100, 5);
    const id = await acceptedBy(account);
    await Promise.all(Array.from({ length: 5 }, () => abandonLookup(sql, id)));
    expect(await booksOf(account)).toEqual({ ...REFUNDED, reservations: 0 });
    expect(await openLookup(sql, id)).toBeNull();
  });

  test('is not abandoned once its workflow has taken it up', async () => {
    const account = await accountWith(100, 5);
    const id = await acceptedBy(account);
    await settleReservation(sql, id);
    await abandonLookup(sql, id);
    expect(await booksOf(account)).toMatchObject({ balance: 95, spent: 5, entries: 1 });
    expect(await openLookup(sql, id)).toBe(NUMBER);
  });

  test('is not asked for later than 4.5 s after it was made', async () => {
    const id = await acceptedBy(await accountWith(100));
    await sql`update number_lookups set created_at = now() - interval '4.6 seconds' where id = ${id}`;
    expect(await openLookup(sql, id)).toBeNull();
  });
});
