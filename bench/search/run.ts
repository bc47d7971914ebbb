import { migrate } from '../../db/migrate.ts';
import { type Database, openDatabase } from '../../db/connection.ts';
import { startPostgres } from '../../dev/postgres.ts';
import { search } from '../../operations/support/search.ts';
import { fill } from './fill.ts';

/** Measures the search of staff: `nice tsx bench/search/run.ts FOLDER [KIND]`, which needs 25 GB and keeps what it was filled with. */

const [folder = '', only = ''] = process.argv.slice(2);
const EACH = 200;
const CONNECTIONS = 4;
// For filling; what is measured only reads.
const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_wal_size: '6GB' };

/** What is pasted, of a random row; columns of one table. */
const KINDS: Record<string, string> = {
  'phone number': `select recipient from messages`,
  'phone number, written with blanks': `select '0048 ' || substr(recipient, 4, 3) || ' ' || substr(recipient, 7) from messages`,
  'phone number of 50,000 messages': `select '600-100-200' from messages`,
  'e-mail address of recipients': `select address from email_recipients`,
  'e-mail address of a person': `select address from people`,
  'message id': `select id from messages`,
  'line of a log with request and account': `select 'accepted ' || request_id || ' of ' || account_id from messages`,
  'event id': `select id from webhook_events`,
  'reply id': `select id from inbound_messages`,
  'e-mail id': `select id from emails`,
  'contact id': `select id from contacts`,
  'account id': `select id from accounts`,
  'payment id': `select id from payments`,
  reference: `select reference from messages where reference like 'order%'`,
  'reference of 500,000 messages': `select 'newsletter' from messages`,
  'idx of a message': `select idx from messages where idx is not null`,
  'idx of an e-mail': `select idx from emails where idx is not null`,
  "SMSC's id": `select provider_message_id from message_parts`,
  "SMSC's id, the other base": `select ('x' || lpad(provider_message_id, 16, '0'))::bit(64)::bigint::text from message_parts`,
  "e-mail provider's id": `select provider_email_id from emails`,
  "processor's payment": `select substr(reference, 8) from payments`,
  "processor's session": `select session from payments`,
  'account name': `select name from accounts`,
  sender: `select name from senders`,
  keyword: `select inbound_prefix from accounts`,
  nothing: `select md5(id) from accounts`,
};

const postgres = await startPostgres(folder, settings);
try {
  await migrate(postgres.superuserUrl);
  const sql = openDatabase(postgres.superuserUrl, CONNECTIONS);
  try {
    const filled = await sql`select from messages limit 1`;
    if (filled.count === 0) await fill(postgres.superuserUrl);
    await sql`create extension if not exists tsm_system_rows`;
    for (const [kind, rows] of Object.entries(KINDS))
      if (kind.includes(only)) console.log(await measured(sql, kind, rows));
  } finally {
    await sql.end({ timeout: 5 });
  }
} finally {
  await postgres.stop();
}

async function measured(sql: Database, kind: string, rows: string): Promise<string> {
  const table = /from (\w+)/.exec(rows)![1]!;
  const sampled = rows.replace(table, `${table} tablesample system_rows(50)`);
  const times: number[] = [];
  let found = 0;
  for (let done = 0; done < EACH;) {
    const [row] = await sql.unsafe<Record<string, string>[]>(`${sampled} order by random() limit 1`);
    const pasted = row === undefined ? undefined : Object.values(row)[0];
    if (pasted === undefined) continue;
    done += 1;
    const start = performance.now();
    const { things, tooSlow } = await search(sql, pasted, null);
    times.push(performance.now() - start);
    found += things.length;
    if (tooSlow.length > 0) console.log(`too slow: ${tooSlow.join(', ')}`);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(share * (times.length - 1))]!.toFixed(1);
  return `${kind}: median ${at(0.5)} ms, p95 ${at(0.95)} ms, ${(found / EACH).toFixed(1)} hits`;
}
