import { beforeEach, expect, test } from 'vitest';
import { newId } from '../../db/ids.ts';
import { settleReservation, stillReserved, takeReserved } from '../../db/money/reservations.ts';
import { fileDatabase } from '../support/database.ts';

const { sql } = await fileDatabase();
beforeEach(async () => void (await sql`truncate reservations`));

async function newAccount(): Promise<string> {
  const id = newId('cl');
  await sql`insert into accounts (id, name) values (${id}, 'Test')`;
  return id;
}

/** Reserves so many of an account. @returns their ids, the oldest first */
async function reserve(
  account: string,
  count: number,
  { priority = false, kind = 'message' } = {},
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId(kind === 'message' ? 'msg' : 'em'));
  await sql`
    insert into reservations (subject_id, kind, account_id, priority)
    select id, ${kind}, ${account}, ${priority} from unnest(${ids}::text[]) id`;
  return ids;
}

const take = async (limit: number): Promise<string[]> => (await takeReserved(sql, limit)).map(({ id }) => id);

test('of each account the oldest are taken first, and those with priority before them', async () => {
  const account = await newAccount();
  const [old, young] = [await reserve(account, 3), await reserve(account, 2)];
  const urgent = await reserve(account, 2, { priority: true });
  expect(await take(4)).toEqual([...urgent, ...old.slice(0, 2)]);
  expect(await take(10)).toEqual([old[2], ...young]);
  expect(await take(10)).toEqual([]);
});

test('accounts take turns, however many one of them has; among those with priority too', async () => {
  const [flood, one, two] = [await newAccount(), await newAccount(), await newAccount()];
  const many = await reserve(flood, 1_000);
  const [first, second] = [await reserve(one, 2), await reserve(two, 1)];
  expect((await take(4)).toSorted()).toEqual([many[0], first[0], second[0], many[1]].toSorted());
  const urgent = await reserve(flood, 100, { priority: true });
  const [late] = await reserve(two, 1, { priority: true });
  expect((await take(4)).toSorted()).toEqual([...urgent.slice(0, 3), late].toSorted());
});

test('several workers at once take different ones, and all of them', async () => {
  const accounts = [await newAccount(), await newAccount(), await newAccount()];
  const all = (await Promise.all(accounts.map((account) => reserve(account, 40)))).flat();
  const taken: string[] = [];
  const work = async (): Promise<void> => {
    for (let some = await take(7); some.length > 0; some = await take(7)) taken.push(...some);
  };
  await Promise.all([work(), work(), work(), work()]);
  // Whoever met only rows that others were taking had nothing to do.
  await work();
  expect(taken.toSorted()).toEqual(all.toSorted());
});

test('one that was taken is taken again once whoever took it has had ten seconds', async () => {
  const [id] = await reserve(await newAccount(), 1);
  expect(await take(5)).toEqual([id]);
  const passed = (seconds: number) => sql`
    update reservations set start_after = start_after - make_interval(secs => ${seconds})`;
  await passed(5);
  expect(await take(5)).toEqual([]);
  await passed(5);
  expect(await take(5)).toEqual([id]);
  expect(await take(5)).toEqual([]);
});

test('a settled one is not there any more, also when it is settled again', async () => {
  const account = await newAccount();
  const [first, second] = (await reserve(account, 2)) as [string, string];
  for (let times = 0; times < 2; times += 1) await settleReservation(sql, first);
  expect(await stillReserved(sql, [first, second])).toEqual(new Set([second]));
  expect(await stillReserved(sql, [])).toEqual(new Set());
  expect(await take(5)).toEqual([second]);
});

test('an acceptance that is not committed has none, and nobody waits for it', async () => {
  const account = await newAccount();
  const [there] = (await reserve(account, 1)) as [string];
  await sql.begin(async (tx) => {
    await tx`
      insert into reservations (subject_id, kind, account_id, priority) values (${newId('msg')}, 'message', ${account}, true)`;
    await tx`update reservations set priority = true where subject_id = ${there}`;
    expect(await take(5)).toEqual([]);
  });
  expect(await take(5)).toHaveLength(2);
});
