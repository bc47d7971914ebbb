import { pino } from 'pino';
import { type Accepting, acceptMessages } from '../../db/messages/accept.ts';
import { readBacklog } from '../../db/money/reservations.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase, type Sql } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { Refused } from '../../domain/refusals.ts';
import type { Routing } from '../../domain/routing.ts';
import { contentOf } from '../../operations/sending/plan.ts';
import { fingerprintOf } from '../../operations/sending/idempotency.ts';
import { type Item, type ItemAnswers, sendItems } from '../../operations/sending/send.ts';
import { startDatabase } from '../support/database.ts';
import { askedSend } from '../support/submitting.ts';

const any = { prefix: '', accountId: null, type: null, priority: null, weight: 1 };
const ROUTING: Routing = {
  routes: [
    { name: 'way', kind: 'simulator', state: 'active', working: true, simulated: false, carries: ['sms'] },
  ],
  rules: [{ ...any, route: 'way' }],
};

let sql: Database;
let url: string;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ sql, url, stop } = await startDatabase());
  await sql`insert into routes (name, kind) values ('way', 'simulator')`;
});
afterAll(() => stop());

async function newAccount(balance: number): Promise<string> {
  const id = newId('cl');
  await sql`insert into accounts (id, name, mode, price_per_part_grosze) values (${id}, 'Test', 'live', 10)`;
  await sql`insert into ledger_entries (account_id, kind, amount_grosze) values (${id}, 'opening', ${balance})`;
  return id;
}

const item = (index: number, idx: string | null = String(index)): Item => ({
  input: { to: `+4850010020${index}`, text: 'Kod', literal: true },
  keys: idx === null ? [] : [{ key: `sms:${idx}`, field: 'idx' }],
});

const ANSWERS: ItemAnswers<string> = {
  keys: [],
  bodyOf: (shown) => ({ shown }),
  shownIn: (body) => (body as { shown: string }).shown,
  show: ({ id }) => id,
  blamed: ({ refusal, param }, index) => new Refused(refusal, `${index}.${param}`),
};

async function ask(account: string, items: readonly Item[], through = sql): Promise<string[]> {
  const asked = askedSend(sql, account, ROUTING, items[0]!.input);
  const services = {
    ...{ ...asked.services, sql: through, log: pino({ level: 'silent' }) },
    backlog: () => readBacklog(through),
    acceptMessages: (accepting: Accepting) => acceptMessages(through, accepting),
  };
  return (await sendItems({ ...asked, services, input: items }, ANSWERS)).body;
}

/** The database, where something else happens before the first statement that holds these words, or a later one. */
function beforeFirst(
  words: string,
  happens: () => Promise<unknown>,
  { through = sql, later = 0 } = {},
): Database {
  let left = later + 1;
  return new Proxy(through, {
    apply(target, self, args: unknown[]): unknown {
      const [strings] = args as [readonly string[]];
      const run = (): unknown => Reflect.apply(target, self, args);
      if (!Array.isArray(strings) || !strings.join('').includes(words)) return run();
      left -= 1;
      return left === 0 ? happens().then(run) : run();
    },
  });
}

const stored = async (account: string): Promise<string[]> => {
  const rows = await sql<{ id: string }[]>`select id from messages where account_id = ${account} order by id`;
  return rows.map(({ id }) => id);
};

test.each([
  ['took the money, before the second knew what there was', 20, 'as opted_out'],
  ['took the keys, when the second was planned', 1_000, 'unpaid'],
])(
  'of two requests with the same items the first one %s: they are answered alike',
  async (_, balance, words) => {
    const account = await newAccount(balance);
    const items = [item(1), item(2)];
    // What makes the second one look once more at what it may write: with a rejected number it asks for its quota.
    if (words === 'unpaid') {
      await sql`insert into blacklist (account_id, msisdn, reason) values (${account}, '+48500100201', 'x')`;
    }
    let first: string[] = [];
    const second = await ask(
      account,
      items,
      beforeFirst(words, async () => (first = await ask(account, items))),
    );
    expect(second).toEqual(first);
    expect(await stored(account)).toEqual([...first].sort());
  },
);

test('where others took some of the items meanwhile, the rest is sent', async () => {
  const account = await newAccount(40);
  let first: string[] = [];
  const second = await ask(
    account,
    [item(1), item(2), item(3), item(4, null)],
    beforeFirst('as opted_out', async () => (first = await ask(account, [item(2)]))),
  );
  expect(second[1]).toBe(first[0]);
  expect(await stored(account)).toHaveLength(4);
});

/** Another request that has the key of the third item. @param number of the item that it sent */
const taking = (account: string, number: number, tx: Sql = sql) => {
  const asked = askedSend(sql, account, ROUTING, item(number).input);
  const fingerprint = fingerprintOf(asked.services.secretsKey, contentOf(asked).written);
  return tx`
  insert into idempotency_keys (account_id, key, fingerprint, request_id, accepted_body)
  values (${account}, 'sms:3', ${fingerprint}, ${newId('req')}, '{"shown": "msg_another"}')`;
};

test('an item that another request sent under its idx meanwhile is answered as that was, and the rest is sent', async () => {
  const account = await newAccount(100);
  const through = beforeFirst('as opted_out', () => taking(account, 3));
  const shown = await ask(account, [item(1), item(2), item(3)], through);
  expect(shown[2]).toBe('msg_another');
  expect(await stored(account)).toEqual(shown.slice(0, 2).sort());
});

test.each([
  ['for another item', 4, false, 'idempotency_other_content'],
  ['and was cleaned up by then', 3, true, 'idempotency_in_progress'],
])(
  'an item whose idx another request took meanwhile %s is named, and nothing is sent',
  async (_, number, isGone, reason) => {
    const account = await newAccount(100);
    let through = beforeFirst('as opted_out', () => taking(account, number));
    const forget = () => sql`delete from idempotency_keys where account_id = ${account}`;
    // Each item is looked for once before anything is planned.
    if (isGone) through = beforeFirst('from idempotency_keys', forget, { through, later: 3 });
    const asking = ask(account, [item(1), item(2), item(3)], through);
    await expect(asking).rejects.toMatchObject({ refusal: { reason }, param: '2.idx' });
    expect(await stored(account)).toEqual([]);
  },
);

test('items whose idx another request is about to take are refused as being in progress once no more is waited for it', async () => {
  const account = await newAccount(100);
  const impatient = openDatabase(url, 2, undefined, { lockMs: 100 });
  try {
    await sql.begin(async (tx) => {
      await taking(account, 3, tx);
      for (const items of [[item(3)], [item(1), item(3)]])
        await expect(ask(account, items, impatient)).rejects.toMatchObject({
          refusal: { reason: 'idempotency_in_progress' },
        });
    });
  } finally {
    await impatient.end({ timeout: 1 });
  }
  expect(await stored(account)).toEqual([]);
});

test('what cannot be paid is refused, whoever else was paid', async () => {
  const account = await newAccount(10);
  const asking = ask(
    account,
    [item(1), item(2)],
    beforeFirst('as opted_out', () => ask(account, [item(3)])),
  );
  await expect(asking).rejects.toMatchObject({ refusal: { reason: 'insufficient_funds' } });
  expect(await stored(account)).toHaveLength(1);
});

test('items that could not be accepted in the time that their caller has are not sent later either', async () => {
  const account = await newAccount(100);
  const impatient = openDatabase(url, 2, undefined, { lockMs: 300 });
  await sql.begin(async (tx) => {
    await tx`select from accounts where id = ${account} for no key update`;
    await expect(ask(account, [item(1), item(2)], impatient)).rejects.toMatchObject({
      refusal: { reason: 'send_abandoned', outage: 'timed_out' },
    });
  });
  await impatient.end({ timeout: 1 });
  expect(await ask(account, [item(1), item(2)])).toHaveLength(2);
  expect(await stored(account)).toHaveLength(2);
  const [left] = await sql`
    select balance_grosze as balance,
           (select count(*)::int from idempotency_keys where account_id = a.id) as keys
      from accounts a where id = ${account}`;
  expect(left).toEqual({ keys: 2, balance: 80 });
});
