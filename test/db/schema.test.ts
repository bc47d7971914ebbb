import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../db/ids.ts';
import { migrate } from '../../db/migrate.ts';
import { TRANSITIONS, MESSAGE_STATUSES } from '../../domain/statuses.ts';
import { fileDatabase } from '../support/database.ts';

const { sql } = await fileDatabase(async (url) => {
  // Several processes of a new installation migrate at once.
  const runs = await Promise.all([migrate(url), migrate(url), migrate(url)]);
  expect(runs.filter((applied) => applied.length > 0)).toHaveLength(1);
  expect(await migrate(url)).toEqual([]);
});
const account = newId('cl');

beforeAll(() => sql`insert into accounts (id, name) values (${account}, 'Schema')`);

async function messageIn(status: string): Promise<string> {
  const id = newId('msg');
  await sql`
    insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze, give_up_at, route)
    values (${id}, ${account}, ${newId('req')}, ${status}, 'queued', '+48500100200', 'x', 1, 15, now(), 'simulator')`;
  return id;
}

async function book(amount: number, kind = 'adjustment', messageId: string | null = null): Promise<void> {
  await sql`
    insert into ledger_entries (account_id, kind, amount_grosze, subject_kind, subject_id)
    values (${account}, ${kind}, ${amount}, ${messageId === null ? null : 'message'}, ${messageId})`;
}

/** Where the database lets a message in this status go. */
async function movesFrom(from: string): Promise<string[]> {
  const allowed: string[] = [];
  for (const to of MESSAGE_STATUSES.filter((status) => status !== from)) {
    const id = await messageIn(from);
    await sql`update messages set status = ${to} where id = ${id}`.then(
      () => allowed.push(to),
      (error: { code: string }) => expect(error.code).toBe('GN409'),
    );
  }
  return allowed.sort();
}

describe('the database allows the moves of the state machine and no others', () => {
  test('it stores the statuses of the state machine, and no others', async () => {
    const [constraint] = await sql<{ definition: string }[]>`
      select pg_get_constraintdef(oid) as definition from pg_constraint
       where conrelid = 'messages'::regclass and conname = 'messages_status_check'`;
    const stored = [...constraint!.definition.matchAll(/'(\w+)'/g)].map((match) => match[1]);
    expect(stored.sort()).toEqual([...MESSAGE_STATUSES].sort());
  });

  test.each(MESSAGE_STATUSES)('from %s', async (from) => {
    const declared = TRANSITIONS.filter((move) => move.from === from).map(({ to }) => to);
    expect(await movesFrom(from)).toEqual(declared.sort());
  });
});

describe('the ledger', () => {
  test('moves the balance with its entries, and nothing else does', async () => {
    await book(500);
    await expect(sql`update accounts set balance_grosze = 7 where id = ${account}`).rejects.toThrow(/ledger/);
    await expect(sql`update accounts set test_credits = 7 where id = ${account}`).rejects.toThrow(/ledger/);
    await expect(
      sql`insert into accounts (id, name, balance_grosze) values ('cl_x', 'x', 5)`,
    ).rejects.toThrow(/opening balance/);
    const [row] = await sql`
      select balance_grosze, (select sum(amount_grosze)::bigint from ledger_entries where account_id = a.id) as sum
        from accounts a where id = ${account}`;
    expect(row!.balanceGrosze).toBe(row!.sum);
  });

  test('is append-only', async () => {
    await expect(sql`update ledger_entries set amount_grosze = 1`).rejects.toThrow(/append-only/);
    await expect(sql`delete from ledger_entries`).rejects.toThrow(/append-only/);
    await expect(sql`truncate ledger_entries`).rejects.toThrow(/append-only/);
  });

  test('charges and refunds a message once each', async () => {
    const id = await messageIn('queued');
    await book(-15, 'charge', id);
    await expect(book(-15, 'charge', id)).rejects.toMatchObject({ code: '23505' });
    await book(15, 'refund', id);
    await expect(book(15, 'refund', id)).rejects.toMatchObject({ code: '23505' });
  });

  test('names for a charge a message or look-up of the account, which is not deleted any more', async () => {
    await expect(book(-15, 'charge')).rejects.toMatchObject({ code: '23514' });
    await expect(book(-15, 'charge', newId('msg'))).rejects.toMatchObject({ code: '23503' });
    const other = newId('cl');
    await sql`insert into accounts (id, name) values (${other}, 'Other')`;
    const id = await messageIn('queued');
    await expect(
      sql`
        insert into ledger_entries (account_id, kind, amount_grosze, subject_kind, subject_id)
        values (${other}, 'charge', 0, 'message', ${id})`,
    ).rejects.toMatchObject({ code: '23503' });
    await expect(
      sql`
        insert into ledger_entries (account_id, kind, amount_grosze, subject_kind, subject_id)
        values (${account}, 'charge', 0, 'lookup', ${id})`,
    ).rejects.toMatchObject({ code: '23503' });
    await book(0, 'charge', id);
    await expect(sql`delete from messages where id = ${id}`).rejects.toMatchObject({ code: '23503' });
  });

  test('names for a payment a statement of the account, pays it once, and keeps it', async () => {
    const id = newId('st');
    await sql`
      insert into statements (id, account_id, month, amount_grosze, due_at)
      values (${id}, ${account}, '2026-05-01', 300, now())`;
    const pay = (
      of: string,
      kind: string | null = 'statement',
      subject: string | null = id,
      grosze = 300,
    ) => sql`
      insert into ledger_entries (account_id, kind, amount_grosze, subject_kind, subject_id)
      values (${of}, 'payment', ${grosze}, ${kind}, ${subject})`;
    const other = newId('cl');
    await sql`insert into accounts (id, name) values (${other}, 'Other')`;
    await expect(pay(other)).rejects.toMatchObject({ code: '23503' });
    await expect(pay(account, 'statement', newId('st'))).rejects.toMatchObject({ code: '23503' });
    await expect(pay(account, 'statement', id, 299)).rejects.toMatchObject({ code: '23503' });
    await expect(pay(account, null, null)).rejects.toMatchObject({ code: '23514' });
    await expect(pay(account, 'message', await messageIn('queued'))).rejects.toMatchObject({ code: '23514' });
    await expect(
      sql`
        insert into ledger_entries (account_id, kind, amount_grosze, subject_kind, subject_id)
        values (${account}, 'charge', -300, 'statement', ${id})`,
    ).rejects.toMatchObject({ code: '23514' });
    const tries = await Promise.allSettled([pay(account), pay(account)]);
    expect(tries.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await expect(pay(account)).rejects.toMatchObject({ code: '23505' });
    await expect(sql`delete from statements where id = ${id}`).rejects.toMatchObject({ code: '23503' });
  });

  test('refuses a charge that the balance does not cover, and moves nothing', async () => {
    const [before] = await sql`select balance_grosze from accounts where id = ${account}`;
    const id = await messageIn('queued');
    await expect(book(-(before!.balanceGrosze as number) - 1, 'charge', id)).rejects.toMatchObject({
      code: 'GN402',
    });
    const [after] = await sql`select balance_grosze from accounts where id = ${account}`;
    expect(after).toEqual(before);
    await book(-(before!.balanceGrosze as number), 'charge', id);
  });
});
