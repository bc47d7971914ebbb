import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, inject, it } from 'vitest';
import { openDatabase, type Sql } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import type { ApiAnswer } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { books, database, newAccount, storedMessages, type TestAccount } from '../support/factories.ts';

const PRICE = 10;
const later = new Date(Date.now() + 86_400_000).toISOString();
const to = (i: number) => `+4860020${String(i).padStart(4, '0')}`;
const times = <T>(count: number, one: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => one(i));

/** Of an account's messages: how many were charged together with others, and by how many workflows. */
async function gathered(...accounts: TestAccount[]): Promise<{ messages: number; workflows: number }> {
  const [row] = await database()<{ messages: number; workflows: number }[]>`
    select count(gathered_in)::int as messages, count(distinct gathered_in)::int as workflows
      from messages where account_id = any(${accounts.map(({ id }) => id)})`;
  return row!;
}

async function storedDrafts({ id }: TestAccount): Promise<number> {
  return (await database()`select from messages where account_id = ${id} and status = 'draft'`).count;
}

/** Holds an account's money as another process would that is at it for long. */
async function holdMoney(accountId: string): Promise<() => Promise<void>> {
  return await hold((own) => own`select from accounts where id = ${accountId} for no key update`);
}

/** Keeps a transaction open that has done this. @returns commits it */
async function hold(work: (own: Sql) => Promise<unknown>): Promise<() => Promise<void>> {
  const holder = openDatabase(inject('service').databaseUrl, 1);
  const own = await holder.reserve();
  await own`begin`;
  await work(own);
  return async () => {
    await own`commit`;
    own.release();
    await holder.end();
  };
}

/** A call that waits for its account's money, behind which all others gather. */
async function callUnderWay(
  account: TestAccount,
): Promise<{ first: Promise<ApiAnswer>; letGo: () => Promise<void> }> {
  const letGo = await holdMoney(account.id);
  const first = account.api.send({ to: to(0), text: 'x', send_at: later });
  await eventually(
    () => storedDrafts(account),
    (count) => count === 1,
  );
  return { first, letGo };
}

describe('single sends that come at the same time', () => {
  it('are accepted together, each as if it had come alone', async () => {
    const [rich, poor, other] = [
      await newAccount({ price: PRICE }),
      await newAccount({ price: PRICE, balance: 3 * PRICE }),
      await newAccount({ price: PRICE }),
    ];
    const answers = await Promise.all(
      times(60, (i) => {
        const account = [rich, poor, other][i % 3]!;
        return account.api.send({ to: to(i), text: `nr ${i}`, reference: `r${i}` }, randomUUID());
      }),
    );
    const of = (account: number, status: number) =>
      answers.filter((answer, i) => i % 3 === account && answer.status === status).length;
    expect([of(0, 201), of(1, 201), of(1, 402), of(2, 201)]).toEqual([20, 3, 17, 20]);
    expect(await books(rich.id)).toMatchObject({ balance: 9_800, ledger: 9_800 });
    expect(await books(poor.id)).toMatchObject({ balance: 0, ledger: 0 });
    const { messages, workflows } = await gathered(rich, poor, other);
    expect(messages).toBeGreaterThan(10);
    expect(workflows).toBeLessThan(messages / 2);
    for (const account of [rich, poor, other]) {
      await eventually(
        () => storedMessages(account.id),
        (all) => all.every(({ status }) => status === 'delivered'),
        60_000,
      );
    }
    const rows = await database()<{ id: string; reference: string; requestId: string }[]>`
      select id, reference, request_id from messages where account_id = any(${[rich.id, poor.id, other.id]})`;
    for (const [i, answer] of answers.entries()) {
      const row = rows.find(({ reference }) => reference === `r${i}`);
      expect(row !== undefined).toBe(answer.status === 201);
      if (row === undefined) continue;
      expect(answer.body).toMatchObject({ id: row.id, to: to(i), text: `nr ${i}` });
      expect(answer.headers.get('x-request-id')).toBe(row.requestId);
    }
    const [submits] = await database()<{ most: number; all: number }[]>`
      select max(n)::int as most, count(*)::int as all from (
        select count(*) as n from simulator_submits
         where reference = any(${rows.map(({ id }) => `${id}/1`)}) group by reference) s`;
    expect(submits).toEqual({ most: 1, all: 43 });
  });

  it('with one key are one message, of whichever call', async () => {
    const account = await newAccount({ price: PRICE });
    const body = { to: to(1), text: 'raz', send_at: later };
    const other = () => account.api.send({ to: to(2), text: 'obok', send_at: later });
    const answers = await Promise.all(
      times(20, (i) => (i % 2 === 0 ? account.api.send(body, 'ten sam') : other())),
    );
    const same = answers.filter((_, i) => i % 2 === 0);
    const accepted = same.filter(({ status }) => status === 201);
    expect(accepted.length).toBeGreaterThan(0);
    expect(new Set(accepted.map(({ body: { id } }) => id)).size).toBe(1);
    expect(same.every(({ status }) => status === 201 || status === 409)).toBe(true);
    expect(answers.filter((_, i) => i % 2 === 1).every(({ status }) => status === 201)).toBe(true);
    expect(await books(account.id)).toMatchObject({ balance: 10_000 - 11 * PRICE });
    expect((await account.api.send(body, 'ten sam')).body.id).toBe(accepted[0]!.body.id);
    const changed = await Promise.all([account.api.send({ ...body, text: 'x' }, 'ten sam'), other()]);
    expect(changed.map(({ status }) => status)).toEqual([409, 201]);
  });

  it('of an account whose money is held wait for that alone', async () => {
    const [held, free] = [await newAccount({ price: PRICE }), await newAccount({ price: PRICE })];
    const send = ({ api }: TestAccount, i: number) => api.send({ to: to(i), text: 'x', send_at: later });
    const letGo = await holdMoney(held.id);
    const waiting = times(8, (i) => send(held, i));
    let answered = 0;
    for (const one of waiting) void one.then(() => (answered += 1));
    const slowest = Math.max(
      ...(await Promise.all(
        times(24, async (i) => {
          const begin = performance.now();
          expect((await send(free, i)).status).toBe(201);
          return performance.now() - begin;
        }),
      )),
    );
    expect(answered).toBe(0);
    expect(slowest).toBeLessThan(6_000);
    await letGo();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(times(8, () => 201));
    expect(await books(held.id)).toMatchObject({ balance: 9_920, ledger: 9_920 });
  });

  it.each([
    ['scheduled', later],
    ['immediate', undefined],
  ])(
    'of an account whose money is held keep nobody waiting, however many they are: %s ones',
    async (_, at) => {
      const [held, ...neighbours] = await Promise.all(times(4, () => newAccount({ price: PRICE })));
      const send = ({ api }: TestAccount, i: number) =>
        api.send({ to: to(i), text: 'x', ...(at === undefined ? {} : { send_at: at }) });
      /** One after the other, each with one of the others beside it. @returns the longest that one took */
      const sendOneByOne = async (beside: () => void): Promise<number> => {
        let slowest = 0;
        for (let i = 0; i < 9; i += 1) {
          beside();
          const begin = performance.now();
          expect((await send(neighbours[i % 3]!, i)).status).toBe(201);
          slowest = Math.max(slowest, performance.now() - begin);
        }
        return slowest;
      };
      const atRest = await sendOneByOne(() => undefined);

      const letGo = await holdMoney(held!.id);
      const waiting: Promise<ApiAnswer>[] = [];
      const sendHeld = () => void waiting.push(send(held!, waiting.length));
      // More than a worker has connections, or places: all are written, and on their way to their charges.
      for (let i = 0; i < 90; i += 1) sendHeld();
      await eventually(
        () => storedDrafts(held!),
        (count) => count === 90,
      );
      const beside = await sendOneByOne(sendHeld);
      // Nothing of what they wait for is what the others wait for.
      expect(beside).toBeLessThan(atRest + 3_000);
      await letGo();

      // Those that gave up meanwhile are charged nothing.
      const answers = await Promise.all(waiting);
      expect([201, 504]).toEqual(expect.arrayContaining([...new Set(answers.map(({ status }) => status))]));
      const accepted = answers.filter(({ status }) => status === 201).map(({ body }) => body.id);
      const stored = await eventually(
        () => storedMessages(held!.id),
        ({ length }) => length === accepted.length,
      );
      expect(stored.map(({ id }) => id)).toEqual([...accepted].sort());
      const left = 10_000 - accepted.length * PRICE;
      expect(await books(held!.id)).toMatchObject({ balance: left, ledger: left });
    },
    180_000,
  );

  it('of an account that has many have a workflow of their own', async () => {
    const [many, few, busy] = await Promise.all(times(3, () => newAccount({ price: PRICE })));
    const send = ({ api }: TestAccount, i: number) => api.send({ to: to(i), text: 'x', send_at: later });
    /** Sends behind a call that is under way. @returns how many of either account were charged by each workflow */
    const gatherAll = async (): Promise<{ ofMany: number; ofFew: number }[]> => {
      const { letGo, first } = await callUnderWay(busy!);
      const answers = await Promise.all(times(24, (i) => send(i % 6 === 5 ? few! : many!, i)));
      expect(answers.map(({ status }) => status)).toEqual(times(24, () => 201));
      await letGo();
      await first;
      return await database()<{ ofMany: number; ofFew: number }[]>`
        select count(*) filter (where account_id = ${many!.id})::int as of_many,
               count(*) filter (where account_id = ${few!.id})::int as of_few
          from messages where account_id = any(${[many!.id, few!.id]}) and gathered_in is not null group by gathered_in`;
    };
    // Where the machine is slow they come one by one, and fewer gather.
    const calls = await eventually(gatherAll, (some) => some.some(({ ofMany }) => ofMany > 8), 60_000);
    for (const { ofMany, ofFew } of calls) if (ofMany > 8) expect(ofFew).toBe(0);
  });

  it('are accepted though one that rides along waits for its key, which another transaction has claimed', async () => {
    const [busy, claimed, ...neighbours] = await Promise.all(times(5, () => newAccount({ price: PRICE })));
    const send = ({ api }: TestAccount, i: number, key?: string) =>
      api.send({ to: to(i), text: 'x', send_at: later }, key);
    // As a request with many keys does until all are claimed.
    const commit = await hold(
      (own) => own`
        insert into idempotency_keys (account_id, key, fingerprint, request_id, accepted_status, accepted_body, lease_until)
        values (${claimed!.id}, 'taken', 'f', ${newId('req')}, 201, '{}', now() + interval '1 hour')`,
    );
    const { letGo, first } = await callUnderWay(busy!);
    const one = send(claimed!, 1, 'taken');
    const others = times(12, (i) =>
      send([claimed!, ...neighbours][i % 4]!, i, i % 2 === 0 ? `k${i}` : undefined),
    );
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual(times(12, () => 201));
    await commit();
    await letGo();
    // Alone it waits, and hears in time that it was not sent.
    expect([409, 504]).toContain((await one).status);
    expect([201, 504]).toContain((await first).status);
    for (const account of [claimed!, ...neighbours])
      expect(await books(account.id)).toMatchObject({
        balance: 10_000 - 3 * PRICE,
        ledger: 10_000 - 3 * PRICE,
      });
    expect(await storedMessages(claimed!.id)).toHaveLength(3);
  });

  it('that cannot ride along go beside: links, batches, the blacklist', async () => {
    const account = await newAccount({ price: PRICE });
    await account.api.post('/v1/blacklist', { msisdn: to(99) });
    const bodies = [
      ...times(6, (i) => ({ to: to(i), text: 'x', send_at: later })),
      ...times(3, (i) => ({ to: to(i), text: `{{link:https://example.com/${i}}}`, send_at: later })),
      { to: to(99), text: 'x' },
      { to: [to(7), to(8)], text: 'x', send_at: later },
    ];
    const answers: ApiAnswer[] = await Promise.all(bodies.map((body) => account.api.send(body)));
    expect(answers.map(({ status }) => status)).toEqual(bodies.map(() => 201));
    expect(answers[9]!.body.status).toBe('rejected');
    expect(await storedMessages(account.id)).toHaveLength(12);
    expect(await books(account.id)).toMatchObject({ balance: 10_000 - 11 * PRICE });
  });

  it('in any mix of accounts, balances and keys are answered as one after the other would be', async () => {
    const one = fc.record({ account: fc.nat(2), key: fc.nat(6), parts: fc.integer({ min: 1, max: 3 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(one, { minLength: 2, maxLength: 24 }),
        fc.array(fc.nat(8), { minLength: 3, maxLength: 3 }),
        async (mix, balances) => {
          const accounts = await Promise.all(
            balances.map((parts) => newAccount({ price: PRICE, balance: parts * PRICE })),
          );
          const asked = mix.map(({ account, key, parts }) => ({
            account: accounts[account]!,
            // Of one key of an account all ask for the same.
            key: `${key} ${parts}`,
            cost: parts * PRICE,
            body: { to: to(key), text: 'a'.repeat(150 * parts), send_at: later },
          }));
          const answers = await Promise.all(
            asked.map(({ account, body, key }) => account.api.send(body, key)),
          );
          for (const [index, account] of accounts.entries()) {
            const own = asked.flatMap((request, i) =>
              request.account === account ? [{ ...request, answer: answers[i]! }] : [],
            );
            const ids = new Map<string, string>();
            for (const { key, answer } of own) {
              expect([201, 402, 409]).toContain(answer.status);
              if (answer.status !== 201) continue;
              expect(ids.get(key) ?? answer.body.id).toBe(answer.body.id);
              ids.set(key, answer.body.id);
            }
            const spent = [...ids.keys()].reduce(
              (sum, key) => sum + own.find((request) => request.key === key)!.cost,
              0,
            );
            const left = balances[index]! * PRICE - spent;
            expect(await books(account.id)).toMatchObject({ balance: left, ledger: left });
            const stored = await storedMessages(account.id);
            expect(stored.map(({ id }) => id)).toEqual([...ids.values()].sort());
            expect(stored.every(({ status }) => status === 'scheduled')).toBe(true);
            for (const { answer, cost } of own) if (answer.status === 402) expect(cost).toBeGreaterThan(left);
            const open = await database()`
              select from idempotency_keys where account_id = ${account.id} and state = 'open'`;
            expect(open.count).toBe(0);
          }
        },
      ),
      { numRuns: 15 },
    );
  }, 180_000);
});
