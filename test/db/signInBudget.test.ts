import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { transaction } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { countEmail } from '../../db/people/emailLimits.ts';
import { ensurePerson } from '../../db/people/people.ts';
import { addSignIn } from '../../db/people/signIns.ts';
import { fileDatabase } from '../support/database.ts';

const { sql } = await fileDatabase();

const SIGN_UPS = 1_000;
const BUDGET = { toAnybody: 70, toAll: 100 };

const asked = (address: string) =>
  addSignIn(
    sql,
    {
      ...{ id: newId('sin'), address, network: `10.${[...randomBytes(3)].join('.')}/32`, next: null },
      ...{ browserHash: randomBytes(32), linkHash: randomBytes(32), codeHash: randomBytes(32) },
    },
    BUDGET,
  );
const invited = (address: string) => {
  const email = { kind: 'invitation', address, asker: 'cl_1', forPerson: true } as const;
  return transaction(sql, (tx) => countEmail(tx, email, BUDGET));
};
const isSent = (outcome: Awaited<ReturnType<typeof asked>>) => 'isSent' in outcome && outcome.isSent;

test('sign-ups from many networks stay within the budget of the day, and people still sign in', async () => {
  const found = async () =>
    (
      await sql<{ state: string; details: object }[]>`
      select state, details from findings where kind = 'budget_used' and subject = 'sign_in_emails'`
    )[0];
  const wave = (count: number) =>
    Promise.all(Array.from({ length: count }, () => asked(`${newId('per')}@klient.example`)));
  await wave(48);
  expect(await found()).toBeUndefined();
  await wave(1);
  expect(await found()).toMatchObject({ state: 'open', details: { used: 49, limits: [70, 100] } });
  const rest = await wave(SIGN_UPS);
  expect(rest.filter(isSent)).toHaveLength(21);
  expect(rest.every((outcome) => 'peopleOnly' in outcome)).toBe(true);
  expect(await found()).toMatchObject({ details: { used: 70 } });

  const people = Array.from({ length: 40 }, () => `${newId('per')}@klient.example`);
  for (const address of people) await ensurePerson(sql, newId('per'), address);
  const theirs = await Promise.all(people.map(asked));
  expect(theirs.filter(isSent)).toHaveLength(30);
  expect(theirs.filter((outcome) => 'limited' in outcome && outcome.limited === 'day')).toHaveLength(10);
  expect(await asked('nobody@klient.example')).toMatchObject({ limited: 'day' });
  expect(await invited('nobody@klient.example')).toMatchObject({ limited: 'day' });
  expect(await found()).toMatchObject({ details: { used: 100 } });

  await sql`update daily_use set day = day - 1`;
  expect(await asked('nobody@klient.example')).toEqual({ peopleOnly: false, isSent: true });
  expect(await found()).toMatchObject({ state: 'gone' });
  for (let n = 0; n < 3; n += 1) await invited(`${newId('per')}@klient.example`);
  expect([...(await sql`select used from daily_use order by day desc limit 1`)]).toEqual([{ used: 4 }]);
});
