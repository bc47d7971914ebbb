import { beforeAll, describe, expect, test, vi } from 'vitest';
import { openDatabase } from '../../db/connection.ts';
import { changeAddressBook } from '../../db/contacts/addressBook.ts';
import { newId } from '../../db/ids.ts';
import { erasePerson } from '../../db/maintenance/erasure.ts';
import { currentPatience, evenIfGone, OutOfPatienceError, withPatience } from '../../db/patience.ts';
import { transaction } from '../../db/transaction.ts';
import { holdTurns } from '../../db/turns.ts';
import { requestResend } from '../../db/webhooks/webhookResends.ts';
import { ownDatabase } from '../admin/support.ts';
import { eventually } from '../support/eventually.ts';

const database = ownDatabase();
const sql = () => database.sql();
const ours = newId('cl');
const others = newId('cl');

const within = <T>(ms: number, work: () => Promise<T>): Promise<T> =>
  withPatience({ owner: null, until: Date.now() + ms, signal: null }, work);

beforeAll(async () => {
  for (const id of [ours, others]) {
    await sql()`insert into accounts (id, name, mode) values (${id}, 'Test', 'live')`;
  }
});

describe('a transaction whose caller waits no longer', () => {
  const stored = async (): Promise<number> => (await sql()`select from slow`).count;

  beforeAll(async () => {
    await sql().unsafe(`
      create table slow (id int);
      create function nap() returns trigger language plpgsql as $$ begin perform pg_sleep(5); return null; end $$;
      create constraint trigger slow_commit after insert on slow deferrable initially deferred
        for each row execute function nap()`);
  });

  test('is told of as done when its commit was on its way by then', async () => {
    const done = within(4_000, () =>
      transaction(sql(), async (tx) => {
        await tx`insert into slow values (1)`;
        return 'done';
      }),
    );
    expect(await done).toBe('done');
    expect(await stored()).toBe(1);
  });

  test('is undone before that', async () => {
    const done = within(500, () =>
      transaction(sql(), async (tx) => {
        await tx`insert into slow values (2)`;
        await tx`select pg_sleep(0.6)`;
      }),
    );
    await expect(done).rejects.toThrow(OutOfPatienceError);
    expect(await stored()).toBe(1);
  });
});

describe('what takes turns', () => {
  test('an erasure waits for a change of the address book under way, and neither ends the other', async () => {
    await sql()`insert into contacts (account_id, id, msisdn) values (${ours}, ${newId('ct')}, '+48500100200')`;
    let erasing: ReturnType<typeof erasePerson> | undefined;
    await changeAddressBook(sql(), ours, async (tx) => {
      // The first of the counters that what follows takes, one after the other.
      await tx`select from account_usage where account_id = ${ours} and kind = 'contacts' for update`;
      erasing = erasePerson(sql(), { msisdn: '+48500100200', accountId: null }, () => '+48*****200');
      erasing.catch(() => undefined);
      await eventually(
        () => sql()`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        (waiting) => waiting.count > 0,
      );
      await tx`insert into contacts (account_id, id, msisdn) values (${ours}, ${newId('ct')}, '+48500100201')`;
    });
    expect(await erasing).toEqual({ messages: 0, replies: 0, lookups: 0 });
    const left = await sql()<{ msisdn: string }[]>`select msisdn from contacts where account_id = ${ours}`;
    expect([...left]).toEqual([{ msisdn: '+48500100201' }]);
  });

  test('nobody takes the turn of another account by the id of its event', async () => {
    const event = newId('evt');
    await sql()`
      insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot) values (${event}, ${ours}, 'message', ${event}, 'message.sent', '{}')`;
    const asked = await transaction(sql(), async (tx) => {
      await holdTurns(tx, [`webhook resends of ${ours}`]);
      return await within(60_000, () => requestResend(sql(), event, others, 'account'));
    });
    expect(asked).toBe('unknown');
  });
});

const free = () => sql()`select from accounts where id = ${ours} for update skip locked`;

test('a transaction that nobody goes on with keeps its locks no longer than it was given', async () => {
  const forgetful = openDatabase(database.url(), 1, undefined, { transactionMs: 2_000 });
  const holder = await forgetful.reserve();
  await holder`begin`;
  expect(await holder`select from accounts where id = ${ours} for update`).toHaveLength(1);
  await eventually(free, ({ length }) => length === 1);
  await forgetful.end({ timeout: 1 });
});

test('nor one that is at a statement', async () => {
  const forgetful = openDatabase(database.url(), 1, undefined, { transactionMs: 500 });
  const held = forgetful.begin(async (tx) => {
    await tx`select from accounts where id = ${ours} for update`;
    await tx`select pg_sleep(200)`;
  });
  await expect(held).rejects.toThrow();
  // The client is told before the lock is given back.
  await eventually(free, ({ length }) => length === 1);
  await forgetful.end({ timeout: 1 });
});

test('what settles something has three seconds, also where nobody waits any more', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    const left = await within(-1_000, () =>
      evenIfGone(() => Promise.resolve(currentPatience()!.until - Date.now())),
    );
    expect(left).toBe(3_000);
    const done = within(-1_000, () =>
      evenIfGone(() => {
        // By the clock it has a minute more: a busy machine may need them.
        vi.setSystemTime(Date.now() - 60_000);
        return transaction(sql(), (tx) => tx`select 1 as one`);
      }),
    );
    expect(await done).toEqual([{ one: 1 }]);
  } finally {
    vi.useRealTimers();
  }
});
