import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../db/connection.ts';
import { migrate } from '../../db/migrate.ts';
import { startDatabase, type TestDatabase } from '../support/database.ts';
import { withMigrations } from '../support/ownMigrations.ts';

const NOTES = 'create table notes (id bigint);';
const NOTES_WITH_TEXT = 'alter table notes add column text text;';

async function start(prepare?: (url: string) => Promise<unknown>): Promise<TestDatabase> {
  const database = await startDatabase(prepare);
  onTestFinished(() => database.stop());
  return database;
}

test('what a database lacks is run, in its order, and once', async () => {
  const { url, sql } = await start();
  const { folder, names } = await withMigrations({ notes: NOTES, text: NOTES_WITH_TEXT });
  expect(await migrate(url, undefined, folder)).toEqual(names);
  expect(await migrate(url, undefined, folder)).toEqual([]);
  expect(await sql`select id, text from notes`).toEqual([]);
});

test('a migration must be as it ran', async () => {
  const { url } = await start();
  const as = async (notes: string) => await migrate(url, undefined, (await withMigrations({ notes })).folder);
  await as(NOTES);
  await expect(as(`${NOTES} `)).rejects.toThrow(/MD5 checksum failed/);
});

test('a release before leaves the schema of a later one as it is', async () => {
  const { url, sql } = await start();
  const { folder } = await withMigrations({ notes: NOTES });
  await migrate(url, undefined, folder);
  expect(await migrate(url)).toEqual([]);
  expect(await sql`select from notes`).toEqual([]);
  expect(await migrate(url, undefined, folder)).toEqual([]);
});

test.each([
  ['one of other migrations', [[1, 'pipeline', null]]],
  [
    'one of this name that others followed',
    [
      [1, 'schema', 'd41d8cd98f00b204e9800998ecf8427e'],
      [42, 'former-secrets', '900150983cd24fb0d6963f7d28e17f72'],
    ],
  ],
] as const)('another schema is refused, and left as it is: %s', async (_, versions) => {
  const { sql } = await start(async (url) => {
    const old = openDatabase(url, 1);
    await old`create table schema_version (version bigint primary key, name text, md5 text, run_at timestamptz)`;
    for (const [version, name, md5] of versions)
      await old`insert into schema_version (version, name, md5) values (${version}, ${name}, ${md5})`;
    await old.end();
    await expect(migrate(url)).rejects.toThrow('the schema of an earlier version of the service');
  });
  const tables = await sql`select tablename as name from pg_tables where schemaname = 'public'`;
  expect(tables.map(({ name }) => String(name))).toEqual(['schema_version']);
  const left = await sql`select version::int, name, md5 from schema_version order by version`;
  expect(left.map(({ version, name, md5 }) => [version, name, md5] as unknown[])).toEqual(versions);
});

test('005: the further ids of a report become one list, also where an earlier release still stores them in two', async () => {
  const { folder } = await withMigrations({});
  const later = (await readdir(folder)).filter((file) => file >= '005');
  for (const file of later) await rm(join(folder, file));
  const { url, sql } = await start((own) => migrate(own, undefined, folder));
  const store = (id: string, alternative: string | null, others: string[]) => sql`
    insert into delivery_reports (route, provider_message_id, alternative_id, other_ids, state)
    values ('r', ${id}, ${alternative}, ${others}, 'delivered')`;
  for (const moment of ['before', 'after']) {
    await store(`${moment}-2`, 'a', []);
    await store(`${moment}-3`, 'a', ['b', 'c']);
    await store(`${moment}-0`, null, []);
    if (moment === 'before') expect(await migrate(url)).toHaveLength(later.length);
  }
  const found = await sql<{ id: string; ids: string[] }[]>`
    select provider_message_id as id, other_ids as ids from delivery_reports where alternative_id is null order by id`;
  const lists = (moment: string) => [[`${moment}-0`], [`${moment}-2`, 'a'], [`${moment}-3`, 'a', 'b', 'c']];
  expect(found.map(({ id, ids }) => [id, ...ids])).toEqual([...lists('after'), ...lists('before')]);
});
