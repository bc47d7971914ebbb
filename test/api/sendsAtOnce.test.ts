import fc from 'fast-check';
import { describe, expect, inject, it } from 'vitest';
import { openDatabase, type Sql } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { decided } from '../support/decided.ts';
import { eventually } from '../support/eventually.ts';
import { books, database, newAccount, storedMessages, type TestAccount } from '../support/factories.ts';

const PRICE = 10;
const later = new Date(Date.now() + 86_400_000).toISOString();
const to = (i: number) => `+4860020${String(i).padStart(4, '0')}`;
const times = <T>(count: number, one: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => one(i));

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

describe('single sends that come at the same time', () => {
  it('are accepted each as if it had come alone', async () => {
    const [rich, poor, other] = [
      await newAccount({ price: PRICE }),
      await newAccount({ price: PRICE, balance: 3 * PRICE }),
      await newAccount({ price: PRICE }),
    ];
    const answers = await Promise.all(
      times(24, (i) => {
        const { api } = [rich, poor, other][i % 3]!;
        const body = { to: to(i), text: `nr ${i}`, reference: `r${i}` };
        return api.sendOnce(body);
      }),
    );
    const of = (account: number, status: number) =>
      answers.filter((answer, i) => i % 3 === account && answer.status === status).length;
    expect([of(0, 201), of(1, 201), of(1, 402), of(2, 201)]).toEqual([8, 3, 5, 8]);
    for (const account of [rich, poor, other]) {
      await eventually(
        () => storedMessages(account.id),
        (all) => all.every(({ status }) => status === 'delivered'),
      );
    }
    expect(await books(rich.id)).toMatchObject({ balance: 9_920, ledger: 9_920 });
    expect(await books(poor.id)).toMatchObject({ balance: 0, ledger: 0 });
    const rows = await database()<{ id: string; reference: string; requestId: string }[]>`
        select id, reference, request_id from messages where account_id = any(${[rich.id, poor.id, other.id]})`;
    for (const [i, answer] of answers.entries()) {
      const row = rows.find(({ reference }) => reference === `r${i}`);
      expect(row !== undefined).toBe(answer.status === 201);
      if (row === undefined) continue;
      expect(answer.body).toMatchObject({ id: row.id, to: to(i), text: `nr ${i}` });
      // Where it was decided only when it was asked again, it is the first request's.
      if (answer.headers.get('idempotent-replayed') === null)
        expect(answer.headers.get('x-request-id')).toBe(row.requestId);
    }
    const [submits] = await database()<{ most: number; all: number }[]>`
        select max(n)::int as most, count(*)::int as all from (
          select count(*) as n from simulator_submits
           where reference = any(${rows.map(({ id }) => `${id}/1`)}) group by reference) s`;
    expect(submits).toEqual({ most: 1, all: 19 });
  });

  it('of an account whose money is held wait for that alone', async () => {
    const [held, free] = [await newAccount({ price: PRICE }), await newAccount({ price: PRICE })];
    const send = ({ api }: TestAccount, i: number) => api.send({ to: to(i), text: 'x', send_at: later });
    const letGo = await holdMoney(held.id);
    const waiting = times(8, (i) => send(held, i));
    let taken = 0;
    for (const one of waiting) void one.then(({ status }) => (taken += status === 201 ? 1 : 0));
    const ofFree = (i: number) => free.api.sendOnce({ to: to(i), text: 'x', send_at: later });
    const others = await Promise.all(times(12, ofFree));
    expect(others.map(({ status }) => status)).toEqual(times(12, () => 201));
    expect(taken).toBe(0);
    await letGo();
    // On a machine that is slow they may have given up meanwhile.
    const accepted = (await Promise.all(waiting)).filter(({ status }) => status === 201).length;
    const left = 10_000 - accepted * PRICE;
    await eventually(
      () => storedMessages(held.id),
      ({ length }) => length === accepted,
    );
    expect(await books(held.id)).toMatchObject({ balance: left, ledger: left });
    expect(await books(free.id)).toMatchObject({ balance: 9_880, ledger: 9_880 });
  });

  it('with a key that another request has claimed and not committed wait for that, and are 409 where it takes long', async () => {
    const [claimed, neighbour] = await Promise.all(times(2, () => newAccount({ price: PRICE })));
    const send = ({ api }: TestAccount, key: string) =>
      api.send({ to: to(1), text: 'x', send_at: later }, key);
    const commit = await hold(
      (own) => own`
        insert into idempotency_keys (account_id, key, fingerprint, request_id, accepted_body)
        values (${claimed!.id}, 'taken', 'f', ${newId('req')}, '{}')`,
    );
    const one = send(claimed!, 'taken');
    for (const account of [claimed!, neighbour!])
      expect((await account.api.sendOnce({ to: to(2), text: 'x', send_at: later })).status).toBe(201);
    expect(await one).toMatchObject({ status: 409, body: { error: { code: 'idempotency_conflict' } } });
    await commit();
    // It belongs to the other request now, which had other content.
    expect((await send(claimed!, 'taken')).status).toBe(409);
    expect(await books(claimed!.id)).toMatchObject({ balance: 10_000 - PRICE, ledger: 10_000 - PRICE });
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
            asked.map(({ account, body, key }) => decided(() => account.api.send(body, key))),
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
            const stored = await eventually(
              () => storedMessages(account.id),
              ({ length }) => length === ids.size,
            );
            expect(await books(account.id)).toMatchObject({ balance: left, ledger: left });
            expect(stored.map(({ id }) => id)).toEqual([...ids.values()].sort());
            expect(stored.every(({ status }) => status === 'scheduled')).toBe(true);
            for (const { answer, cost } of own) if (answer.status === 402) expect(cost).toBeGreaterThan(left);
            const keys = await database()`select from idempotency_keys where account_id = ${account.id}`;
            expect(keys.count).toBe(ids.size);
          }
        },
      ),
      { numRuns: 10 },
    );
  });
});
