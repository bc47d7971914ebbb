import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createKeyLookups, type KeyLookups } from '../../api/http/authentication.ts';
import { newApiKey } from '../../db/accounts/keys.ts';
import { type Database, openDatabase } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { startDatabase } from '../support/database.ts';

let sql: Database;
let front: Database;
let stop: () => Promise<void>;
let lookups: KeyLookups;
let busy: Holder;
let other: Holder;

interface Holder {
  account: string;
  keyId: string;
  hash: Buffer;
}

beforeAll(async () => {
  let url: string;
  ({ sql, url, stop } = await startDatabase());
  front = openDatabase(url, 2);
  lookups = createKeyLookups(front);
});
afterAll(async () => {
  await front?.end();
  await stop();
});
beforeEach(async () => {
  [busy, other] = [await newHolder(), await newHolder()];
});

async function newHolder(): Promise<Holder> {
  const [account, keyId] = [newId('cl'), newId('key')];
  const { hash, hint } = newApiKey('live');
  await sql`insert into accounts (id, name, mode) values (${account}, 'A', 'live')`;
  await sql`
    insert into api_keys (id, account_id, hash, hint, mode, scopes)
    values (${keyId}, ${account}, ${hash}, ${hint}, 'live', '{read}')`;
  return { account, keyId, hash };
}

/** While others write to the window of the busy account. */
async function whileLocked(work: () => Promise<void>): Promise<void> {
  await lookups.useKey(busy.hash);
  await sql.begin(async (tx) => {
    await tx`select from rate_windows where account_id = ${busy.account} for update`;
    await work();
  });
}

describe('requests with one key at once', () => {
  test('are counted one by one, and do not hold up one with another key', async () => {
    let many: Promise<(number | undefined)[]>;
    await whileLocked(async () => {
      many = Promise.all(Array.from({ length: 200 }, async () => (await lookups.useKey(busy.hash))?.used));
      expect(await lookups.useKey(other.hash)).toMatchObject({ accountId: other.account, used: 1 });
    });
    expect(await many!).toEqual(Array.from({ length: 200 }, (_, i) => i + 2));
    expect((await lookups.useKey(busy.hash))?.used).toBe(202);
  });

  test('begin a new window together, too', async () => {
    await lookups.useKey(busy.hash);
    await sql`update rate_windows set started_at = now() - interval '61 s', used = 50 where account_id = ${busy.account}`;
    const used = await Promise.all([1, 2, 3].map(async () => (await lookups.useKey(busy.hash))?.used));
    expect(used).toEqual([1, 2, 3]);
  });

  test('are refused once it is revoked, however many wait', async () => {
    let waiting: Promise<unknown[]>;
    await whileLocked(async () => {
      const underWay = lookups.useKey(busy.hash);
      await sql`update api_keys set revoked_at = now() where id = ${busy.keyId}`;
      waiting = Promise.all([underWay, lookups.useKey(busy.hash), lookups.useKey(busy.hash)]);
    });
    const [, ...after] = await waiting!;
    expect(after).toEqual([null, null]);
  });

  test('fail with their own statement alone, and are looked up anew', async () => {
    let failing: Promise<PromiseSettledResult<unknown>[]>;
    await whileLocked(async () => {
      failing = Promise.allSettled([lookups.useKey(busy.hash), lookups.useKey(busy.hash)]);
      let ended = 0;
      while (ended === 0) {
        const blocked = await sql`
          select pg_cancel_backend(pid) from pg_stat_activity
           where wait_event_type = 'Lock' and datname = current_database()`;
        ended = blocked.count;
      }
    });
    expect((await failing!).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  });
});
