import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../dev/postgres.ts';
import { type Database, openDatabase, type Sql } from '../db/connection.ts';
import { type ContactFilter, contactsOf, readContacts } from '../db/contacts/contacts.ts';
import { expandGroups, listGroups } from '../db/contacts/groups.ts';
import { newId } from '../db/ids.ts';
import { searchTerms } from '../domain/contacts.ts';
import { migrate } from '../db/migrate.ts';
import { applyChanges, changeBook } from '../operations/addressBook/contacts.ts';
import { run } from './load.ts';

/**
 * Measures the address book in a PostgreSQL of its own (`npm run bench:contacts`): an account with 100,000 contacts
 * (or as many as the first argument says) and a group of a tenth of them, beside another account of the same size.
 * Prints a Markdown table; times in milliseconds, one caller.
 */
const CONTACTS = Number(process.argv[2] ?? 100_000);
const ROUNDS = 50;
const PAGE = 51;
const GROUPS = 100;

const dataDir = mkdtempSync(join(tmpdir(), 'goniec-bench-'));
// PostgreSQL may run as another user, who has to reach its folder below this one.
chmodSync(dataDir, 0o711);
const postgres = await startPostgres(dataDir);
try {
  await migrate(postgres.url);
  const sql = openDatabase(postgres.url, 2);
  await measureAll(sql);
  await sql.end({ timeout: 5 });
} finally {
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
}

async function measureAll(sql: Database): Promise<void> {
  console.error(`fills two accounts with ${CONTACTS} contacts each …`);
  const { account, group } = await fill(sql, '+48500');
  await fill(sql, '+48600');
  await sql`vacuum analyze contacts, contact_groups, group_members`;
  console.log('| what | found | median | p95 | p99 |\n| --- | ---: | ---: | ---: | ---: |');

  const page = (filter: Partial<ContactFilter>, limit = PAGE) =>
    readContacts(sql, account, { terms: [], groupId: null, after: null, ...filter }, limit);
  const search = (name: string, filter: Partial<ContactFilter>) =>
    line(name, async () => (await page(filter)).length);

  await walk('page of the whole list', {});
  await walk('page of a group', { groupId: group });
  for (const q of [
    'a',
    'q',
    'no',
    'qx',
    'now',
    '500',
    'zzz',
    'kowals',
    '500123',
    'brakuj',
    'osoba7777@',
    'jan kowalski',
    'kowalski jan',
    'ja no',
    'q x',
    '500 123',
    'zzz a',
    'katarzyna a e i o s z k r 5',
    '7 5 3 1',
  ]) {
    await search(`search \`${q}\``, { terms: searchTerms(q) });
  }
  for (const q of ['a', 'qx', 'now', 'zzz', '500123', 'jan kowalski', 'q x']) {
    await search(`search \`${q}\` in a group`, { terms: searchTerms(q), groupId: group });
  }
  const everything = Number.MAX_SAFE_INTEGER;
  const [whole] = await expandGroups(sql, account, [group], everything);
  const expand = (limit: number) => async () =>
    (await expandGroups(sql, account, ['duża'], limit))[0]!.msisdns.length;
  await line('expand a group, at most 501', expand(501));
  await line('expand a group, all', expand(everything));
  const recipients = whole!.msisdns.slice(0, 500);
  await line('contacts of 500 numbers', async () => (await contactsOf(sql, account, recipients)).size);
  await line('list of groups', async () => (await listGroups(sql, account)).length);

  let next = 0;
  const importing = (prefix: string) => async () => {
    const changes = Array.from({ length: 500 }, () => ({
      msisdn: prefix + String(1_000_000 + next++),
      change: { first_name: 'Katarzyna', last_name: `Zielińska-${next}`, groups: ['Duża', 'g7'] },
    }));
    const apply = (tx: Sql) => applyChanges(tx, account, changes);
    return (await changeBook(sql, account, apply)).outcomes.length;
  };
  await line('import of 500 new contacts', importing('+48700'), 20);
  next = 0;
  await line('import of 500 known contacts', importing('+48700'), 20);
  await search('search `500123` right after imports', { terms: searchTerms('500123') });

  /** Every page once, at most so many as there are rounds. */
  async function walk(name: string, filter: Partial<ContactFilter>): Promise<void> {
    let after: string | null = null;
    await line(name, async () => {
      const found = await page({ ...filter, after }, 201);
      after = found.length === 201 ? found.at(-2)!.id : null;
      return found.length;
    });
  }
}

/** Runs something again and again, and prints how long it took. */
async function line(what: string, work: () => Promise<number>, rounds = ROUNDS): Promise<void> {
  let found = await work();
  const { median, p95, p99 } = await run(rounds, 1, async () => {
    found = await work();
  });
  console.log(`| ${what} | ${found} | ${[median, p95, p99].map((ms) => ms.toFixed(1)).join(' | ')} |`);
}

/** An account with contacts, a large group of every tenth one and smaller ones, five memberships each on average. */
async function fill(sql: Database, prefix: string): Promise<{ account: string; group: string }> {
  const account = newId('cl');
  const group = newId('gr');
  await sql`insert into accounts (id, name) values (${account}, 'Bench')`;
  await sql`insert into contact_groups (account_id, id, name) values (${account}, ${group}, 'Duża')`;
  await sql`
    insert into contact_groups (account_id, id, name)
    select ${account}, 'gr_' || lpad(i::text, 26, '0'), 'g' || i from generate_series(1, ${GROUPS}) i`;
  await sql`
    insert into contacts (account_id, id, msisdn, first_name, last_name, email, fields)
    select ${account}, 'ct_' || lpad(i::text, 26, '0'), ${prefix} || lpad(((i::bigint * 7919) % 1000000)::text, 6, '0'),
           (array['Jan','Anna','Piotr','Katarzyna','Małgorzata','Paweł','Łukasz','Żaneta','Ewa','Błażej'])[1 + i % 10],
           (array['Kowalski','Nowak','Wiśniewska','Wójcik','Kamińska','Zieliński','Mazur','Żak'])[1 + i / 10 % 8]
             || case when i % 3 = 0 then '-' || substr(md5(i::text), 1, 5) else '' end,
           case when i % 2 = 1 then 'osoba' || i || '@example' || i % 50 || '.pl' end,
           jsonb_build_object('miasto', 'Kraków', 'punkty', i::text)
      from generate_series(1, ${CONTACTS}) i`;
  await sql`
    insert into group_members (account_id, group_id, contact_id)
    select account_id, ${group}, id from contacts where account_id = ${account} and right(id, 1) = '7'`;
  await sql`
    insert into group_members (account_id, group_id, contact_id)
    select ${account}, 'gr_' || lpad((1 + (i * 31 + k * 17) % ${GROUPS})::text, 26, '0'), 'ct_' || lpad(i::text, 26, '0')
      from generate_series(1, ${CONTACTS}) i cross join generate_series(1, 5) k
    on conflict do nothing`;
  return { account, group };
}
