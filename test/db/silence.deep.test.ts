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
