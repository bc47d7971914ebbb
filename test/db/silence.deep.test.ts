import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase, transaction } from '../../db/connection.ts';
import { type FarDatabase, startFarDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import type { Proxy } from '../support/proxy.ts';

// Long enough for answers of a busy machine.
const SILENCE_MS = 4_000;

let server: FarDatabase;
let proxy: Proxy;
let sql: Database;

beforeAll(async () => {
  server = await startFarDatabase();
  ({ proxy } = server);
  sql = openDatabase(server.farUrl, 2, SILENCE_MS);
});
afterAll(async () => {
  await sql?.end({ timeout: 1 });
  await server?.stop();
});

const backend = async (): Promise<number> => {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return row!.pid;
};

describe('a pool whose connections may fall silent', () => {
  it('fails the statement that waits on a connection that died without a word, and goes on with new ones', async () => {
    await Promise.all([sql`select pg_sleep(0.1)`, sql`select pg_sleep(0.1)`]);
    proxy.strand();
    const ends = Promise.allSettled([sql`select 1`, sql`select 2`]);
    expect(await ends).toMatchObject([{ reason: { code: 'ETIMEDOUT' } }, { reason: { code: 'ETIMEDOUT' } }]);
    // The connection is not closed yet: what comes now fails with it, and is not forgotten.
    const [next] = await Promise.allSettled([sql`select 3 as three`]);
    if (next.status === 'rejected') expect(next.reason).toMatchObject({ code: 'CONNECTION_CLOSED' });
    expect([...(await sql`select 4 as four`)]).toEqual([{ four: 4 }]);
  });

  it('is ended by its silence however much is written to it: others keep asking', async () => {
    const busy = openDatabase(server.farUrl, 1, SILENCE_MS);
    await busy`select 1`;
    proxy.strand();
    const asked: Promise<unknown>[] = [];
    const asking = setInterval(() => asked.push(busy`select 2`.catch(() => undefined)), SILENCE_MS / 10);
    try {
      const first = Promise.allSettled([busy`select 1`]);
      expect(await first).toMatchObject([{ reason: { code: 'ETIMEDOUT' } }]);
    } finally {
      clearInterval(asking);
    }
    await Promise.all(asked);
    // All of this proxy's connections have died: those of the other tests too.
    const answers = (pool: Database) => async () =>
      (await Promise.allSettled([pool`select 4`, pool`select 4`])).every(
        ({ status }) => status === 'fulfilled',
      );
    for (const pool of [busy, sql]) expect(await eventually(answers(pool), (all) => all)).toBe(true);
    await busy.end();
  });

  it('keeps connections that have nothing to say', async () => {
    const before = [await backend(), await backend()];
    await new Promise((resolve) => setTimeout(resolve, 2 * SILENCE_MS));
    expect(before).toContain(await backend());
  });

  it('leaves no lock behind where it fell silent in the middle of a statement', async () => {
    const near = openDatabase(server.url, 1);
    const far = openDatabase(server.farUrl, 1, SILENCE_MS);
    await near`drop table if exists locked`;
    await near`create table locked as select 1 as id`;
    await far.unsafe(`set transaction_timeout = ${4 * SILENCE_MS}`);
    const ending = transaction(far, async (tx) => {
      await tx`select id from locked for update`;
      proxy.mute();
      // New to the connection, and with a parameter: the server parses it, and waits for the parameter for ever.
      await tx`select id + ${1}::int as next from locked`;
    });
    await expect(ending).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    const unlocked = () => near`select id from locked for update skip locked`;
    expect(await unlocked()).toHaveLength(0);
    expect([
      ...(await near`select state, wait_event from pg_stat_activity where datname = current_database() and query like 'select id + %'`),
    ]).toEqual([{ state: 'active', waitEvent: 'ClientRead' }]);
    await eventually(unlocked, ({ length }) => length === 1);
    await Promise.all([near.end(), far.end({ timeout: 1 })]);
  });

  it('ends a transaction likewise', async () => {
    const ending = transaction(sql, async (tx) => {
      await tx`select 1`;
      proxy.strand();
      await tx`select 2`;
    });
    await expect(ending).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    await eventually(
      () =>
        sql`select 3`.then(
          () => true,
          () => false,
        ),
      Boolean,
    );
  });
});
