import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../db/connection.ts';
import { fairDatabase } from '../../db/fairDatabase.ts';
import { evenIfGone, OutOfPatienceError, withPatience } from '../../db/patience.ts';
import { transaction } from '../../db/transaction.ts';
import { ownDatabase } from '../admin/support.ts';
import { eventually } from '../support/eventually.ts';

const database = ownDatabase();
const PLACES = 1;

let pool: Database;
let sql: Database;
let gone: AbortController;
beforeEach(() => {
  pool = openDatabase(database.url(), PLACES);
  sql = fairDatabase(pool, PLACES);
  gone = new AbortController();
});
afterEach(() => pool.end());

const as = <T>(signal: AbortSignal | null, work: () => Promise<T>): Promise<T> =>
  withPatience({ owner: 'cl_a', until: Date.now() + 60_000, signal }, work);

/** Keeps the only connection until told to give it back. */
async function keepConnection(): Promise<() => Promise<void>> {
  let giveBack: () => void = () => undefined;
  let taken: () => void = () => undefined;
  const isTaken = new Promise<void>((resolve) => (taken = resolve));
  const kept = new Promise<void>((resolve) => (giveBack = resolve));
  const keeping = as(null, () =>
    transaction(sql, async (tx) => {
      await tx`select 1`;
      taken();
      await kept;
    }),
  );
  await isTaken;
  return async () => {
    giveBack();
    await keeping;
  };
}

const one = async (): Promise<number> => (await sql<{ one: number }[]>`select 1 as one`)[0]!.one;

test('who waits for a connection and has gone leaves the queue, and others have their turn', async () => {
  const giveBack = await keepConnection();
  let began = false;
  const statement = as(gone.signal, one);
  const changes = as(gone.signal, () => transaction(sql, () => Promise.resolve((began = true))));
  const stays = as(null, one);
  gone.abort();
  await expect(statement).rejects.toThrow(OutOfPatienceError);
  await expect(changes).rejects.toThrow(OutOfPatienceError);
  await giveBack();
  expect(await stays).toBe(1);
  expect(await as(null, one)).toBe(1);
  expect(began).toBe(false);
});

test('what has to be settled waits all the same', async () => {
  const giveBack = await keepConnection();
  const settling = as(gone.signal, () => evenIfGone(one));
  gone.abort();
  await giveBack();
  expect(await settling).toBe(1);
});

test('of eight connections one owner has five, whatever it asks; statements and transactions of others find one', async () => {
  const eight = openDatabase(database.url(), 8);
  const shared = fairDatabase(eight, 8);
  const owned = <T>(owner: string, work: () => Promise<T>): Promise<T> =>
    withPatience({ owner, until: Date.now() + 60_000, signal: null }, work);
  const holder = await pool.reserve();
  const watcher = openDatabase(database.url(), 1);
  await holder`select pg_advisory_lock(1)`;
  const wait = async () => void (await shared`select pg_advisory_xact_lock_shared(1)`);
  const waitInTransaction = () =>
    transaction(shared, async (tx) => void (await tx`select pg_advisory_xact_lock_shared(1)`));
  const busy = Array.from({ length: 16 }, (_, i) => owned('greedy', i % 2 === 0 ? wait : waitInTransaction));
  const waiting = async () =>
    (
      await watcher`
        select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`
    ).count;
  try {
    await eventually(waiting, (count) => count >= 5);
    expect(await owned('other', async () => [...(await shared`select 1 as one`)])).toEqual([{ one: 1 }]);
    expect(await owned('third', () => transaction(shared, async (tx) => (await tx`select 1`).count))).toBe(1);
    expect(await waiting()).toBe(5);
  } finally {
    await holder`select pg_advisory_unlock(1)`;
    holder.release();
    await Promise.all(busy);
    await Promise.all([eight.end(), watcher.end()]);
  }
});
