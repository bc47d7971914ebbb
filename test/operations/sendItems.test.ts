import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { chargeRequest } from '../../db/money/billing.ts';
import { OutOfPatienceError, withPatience } from '../../db/patience.ts';
import { Refused } from '../../domain/refusals.ts';
import type { Routing } from '../../domain/routing.ts';
import type { Asked } from '../../operations/asked.ts';
import type { Pace } from '../../operations/pace.ts';
import { type Item, type ItemAnswers, sendItems } from '../../operations/sending/sendItems.ts';
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
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ sql, stop } = await startDatabase());
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
  keyed: idx === null ? null : { key: `sms:${idx}`, fingerprint: Buffer.from(idx), field: 'idx' },
});

const ANSWERS: ItemAnswers<string> = {
  status: 200,
  bodyOf: (shown) => ({ shown }),
  shownIn: (body) => (body as { shown: string }).shown,
  show: ({ id }) => id,
  blamed: ({ refusal, param }, index) => new Refused(refusal, `${index}.${param}`),
};

/** Charges at once, as a workflow does. */
const temporal = {
  connection: { withDeadline: (_: number, work: () => unknown) => work() },
  workflow: {
    executeUpdateWithStart: (_: unknown, { updateId }: { updateId: string }) => chargeRequest(sql, updateId),
  },
};

function ask(
  account: string,
  items: readonly Item[],
  through = sql,
  otherwise: { pace?: Pick<Pace, 'due' | 'rest'>; temporal?: typeof temporal } = {},
): Promise<string[]> {
  const asked = { ...askedSend(sql, account, ROUTING, items[0]!.input), ...otherwise };
  const services = {
    ...asked.services,
    sql: through,
    temporal: otherwise.temporal ?? temporal,
    log: pino({ level: 'silent' }),
  };
  return sendItems({ ...asked, services, input: items } as unknown as Asked<readonly Item[]>, ANSWERS);
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
  const rows = await sql<{ id: string }[]>`
    select id from messages where account_id = ${account} and status <> 'draft' order by id`;
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

test.each([
  ['is still under way', false],
  ['gave it up by then', true],
])('an item whose idx another request took meanwhile is named, also where that %s', async (_, gaveUp) => {
  const account = await newAccount(100);
  const take = () => sql`
    insert into idempotency_keys (account_id, key, fingerprint, request_id, accepted_status, accepted_body, lease_until)
    values (${account}, 'sms:3', ${Buffer.from('3')}, ${newId('req')}, 200, '{}', now() + interval '15 s')`;
  const giveUp = () => sql`delete from idempotency_keys where account_id = ${account}`;
  let through = beforeFirst('as opted_out', take);
  // Each item is looked for once before anything is planned.
  if (gaveUp) through = beforeFirst('as lease_expired', giveUp, { through, later: 3 });
  const asking = ask(account, [item(1), item(2), item(3)], through);
  await expect(asking).rejects.toMatchObject({
    refusal: { reason: 'idempotency_in_progress' },
    param: '2.idx',
  });
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

test.each([
  ['in time', 20, 2],
  ['at the last moment of some', 30, 0],
])('charged %s, items that took long to plan are charged all, or none', async (_, seconds, charged) => {
  const account = await newAccount(100);
  const pace = { due: () => true, rest: () => delay(500) };
  const late = {
    ...temporal.workflow,
    async executeUpdateWithStart(_: unknown, { updateId }: { updateId: string }) {
      await sql`
        update messages m set created_at = created_at - (l.middle - now()) - make_interval(secs => ${seconds})
          from (select min(created_at) + (max(created_at) - min(created_at)) / 2 as middle
                  from messages where request_id = ${updateId}) l
         where request_id = ${updateId}`;
      return await chargeRequest(sql, updateId);
    },
  };
  const asking = ask(account, [item(1), item(2)], sql, { pace, temporal: { ...temporal, workflow: late } });
  await (charged > 0 ? asking : expect(asking).rejects.toThrow());
  expect(await stored(account)).toHaveLength(charged);
});

test.each([null, 'idx'])(
  'whose caller has gone when they are written is charged nothing (key: %s)',
  async (idx) => {
    const account = await newAccount(100);
    const gone = new AbortController();
    const through = new Proxy(sql, {
      apply: (target, self, args: unknown[]): unknown => {
        const [strings] = args as [readonly string[]];
        const asked: unknown = Reflect.apply(target, self, args);
        const writes = Array.isArray(strings) && strings.join('').includes('select from drafted');
        return writes ? Promise.resolve(asked).finally(() => gone.abort()) : asked;
      },
      get: (target, name) =>
        name === 'begin'
          ? (work: never) => target.begin(work).finally(() => gone.abort())
          : (Reflect.get(target, name) as unknown),
    });
    const patience = { owner: account, until: Date.now() + 600_000, signal: gone.signal };
    const asking = withPatience(patience, () => ask(account, [item(1, idx)], through));
    await expect(asking).rejects.toThrow(OutOfPatienceError);
    const [left] = await sql`
    select (select count(*)::int from messages where account_id = ${account}) as messages,
           (select count(*)::int from idempotency_keys where account_id = ${account}) as keys,
           (select balance_grosze from accounts where id = ${account}) as balance`;
    expect(left).toEqual({ messages: 0, keys: 0, balance: 100 });
  },
);
