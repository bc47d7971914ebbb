import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../db/connection.ts';
import { type FarDatabase, startFarDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import type { Proxy } from '../support/proxy.ts';

const SILENCE_MS = 2_000;

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

const succeeds = (work: () => Promise<unknown>): Promise<boolean> =>
  work().then(
    () => true,
    () => false,
  );

describe('a pool whose connections may fall silent', () => {
  it('fails the statement that waits on a connection that died without a word, and goes on with new ones', async () => {
    const sleeps = () => Promise.all([sql`select pg_sleep(0.1)`, sql`select pg_sleep(0.1)`]);
    await eventually(() => succeeds(sleeps), Boolean);
    proxy.strand();
    expect(await Promise.allSettled([sql`select 1`, sql`select 2`])).toMatchObject([
      { reason: { code: 'ETIMEDOUT' } },
      { reason: { code: 'ETIMEDOUT' } },
    ]);
    // What comes before the connections are closed fails with them; an answer of a busy machine may come too late for the new ones.
    const four = async () => expect([...(await sql`select 4 as four`)]).toEqual([{ four: 4 }]);
    await eventually(() => succeeds(four), Boolean);
  });

  it('has the server end connections and transactions whose client is gone', async () => {
    expect([...(await sql`show transaction_timeout`)]).toEqual([{ transactionTimeout: '1min' }]);
    expect([...(await sql`show tcp_keepalives_idle`)]).toEqual([{ tcpKeepalivesIdle: '60' }]);
  });
});
