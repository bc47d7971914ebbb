import { expect, test } from 'vitest';
import { commandLine, ownDatabase } from './support.ts';

const database = ownDatabase();
const { ok, no } = commandLine(database.url);

test('people reset-factors removes what one person cannot prove any more, and ends the sessions', async () => {
  const sql = database.sql();
  const account = await database.account();
  for (const person of ['per_a', 'per_b']) {
    await sql`insert into people (id, address) values (${person}, ${`${person}@klient.example`})`;
    await sql`insert into totp (person_id, secret, last_step) values (${person}, '', 1)`;
    await sql`insert into passkeys (id, person_id, label, public_key, counter) values (${person}, ${person}, 'x', '', 0)`;
    await sql`insert into recovery_codes (code_hash, person_id) values (${Buffer.from(person)}, ${person})`;
    await sql`
      insert into sessions (id, token_hash, person_id, assurance, address)
      values (${person}, ${Buffer.from(person)}, ${person}, 'address', '10.0.0.1')`;
  }
  await sql`insert into memberships (person_id, account_id, role) values ('per_a', ${account}, 'owner')`;
  expect(await ok('people', 'reset-factors', '--address', 'PER_A@klient.example')).toEqual({
    person: 'per_a',
  });
  for (const table of ['totp', 'passkeys', 'recovery_codes', 'sessions'])
    expect([...(await sql`select person_id from ${sql(table)}`)]).toEqual([{ personId: 'per_b' }]);
  expect([...(await sql`select action, account_id, subject from audit_log where subject = 'per_a'`)]).toEqual(
    [{ action: 'factors reset', accountId: account, subject: 'per_a' }],
  );
  expect(await no('people', 'reset-factors', '--address', 'nobody@klient.example')).toMatchObject({
    message: 'Nobody signs in by nobody@klient.example.',
  });
});
