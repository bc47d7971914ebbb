import { describe, expect, inject, it } from 'vitest';
import { openDatabase } from '../../db/connection.ts';
import type { ApiAnswer } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { books, database, newAccount, storedMessages, type TestAccount } from '../support/factories.ts';

const PRICE = 10;
const later = new Date(Date.now() + 86_400_000).toISOString();
const to = (i: number) => `+4860020${String(i).padStart(4, '0')}`;
const times = <T>(count: number, one: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => one(i));

async function storedDrafts({ id }: TestAccount): Promise<number> {
  return (await database()`select from messages where account_id = ${id} and status = 'draft'`).count;
}

/** Holds an account's money as another process would that is at it for long. @returns lets it go */
async function holdMoney(accountId: string): Promise<() => Promise<void>> {
  const holder = openDatabase(inject('service').databaseUrl, 1);
  const own = await holder.reserve();
  await own`begin`;
  await own`select from accounts where id = ${accountId} for no key update`;
  return async () => {
    await own`commit`;
    own.release();
    await holder.end();
  };
}

describe('single sends that come at the same time', () => {
  it.each([
    ['scheduled', later],
    ['immediate', undefined],
  ])(
    'of an account whose money is held keep nobody waiting, however many they are: %s ones',
    async (_, at) => {
      const [held, ...neighbours] = await Promise.all(times(4, () => newAccount({ price: PRICE })));
      const send = ({ api }: TestAccount, i: number) =>
        api.send({ to: to(i), text: 'x', ...(at === undefined ? {} : { send_at: at }) });
      const letGo = await holdMoney(held!.id);
      const waiting: Promise<ApiAnswer>[] = [];
      const sendHeld = () => void waiting.push(send(held!, waiting.length));
      // More than a worker has connections, or places: all are written, and on their way to their charges.
      for (let i = 0; i < 90; i += 1) sendHeld();
      await eventually(
        () => storedDrafts(held!),
        (count) => count === 90,
      );
      // Nothing of what they wait for is what the others wait for, or these would hear of it with 504.
      for (let i = 0; i < 9; i += 1) {
        sendHeld();
        expect((await send(neighbours[i % 3]!, i)).status).toBe(201);
      }
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
  );
});
