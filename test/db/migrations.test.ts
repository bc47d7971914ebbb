import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addAlert, addReminders } from '../../db/emails/ownEmails.ts';
import { cancelScheduled } from '../../db/money/billing.ts';
import { listStatements } from '../../db/money/statements.ts';
import { type Database, openDatabase } from '../../db/connection.ts';
import { readHistory } from '../../db/messages/history.ts';
import { migrate } from '../../db/migrate.ts';
import { STORED_STATUSES } from '../../domain/statuses.ts';
import { startDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';

/** The schema of the release before this one: 0.5.0. */
const LAST_RELEASE = '003';

const MIGRATIONS = new URL('../../db/migrations/', import.meta.url);

let sql: Database;
let stop: () => Promise<void>;
let applied: string[];

beforeAll(async () => {
  const database = await startDatabase((url) => migrate(url, LAST_RELEASE));
  ({ sql, stop } = database);
  await fill();
  applied = await migrate(database.url);
});
afterAll(() => stop());

/** What an installation of the last release holds: money moved, messages in every state, reports, events. */
async function fill(): Promise<void> {
  await sql`insert into accounts (id, name, mode, webhook_url) values ('cl_1', 'Sklep', 'live', 'https://example.com/')`;
  await sql`insert into ledger_entries (account_id, kind, amount_grosze) values ('cl_1', 'opening', 1000)`;
  await sql`
    insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze, give_up_at,
                          route, send_at)
    values ('msg_1', 'cl_1', 'req_1', 'draft', 'scheduled', '+48500100200', 'Zażółć', 1, 15, now() + interval '3 days',
            'simulator', now() + interval '1 hour'),
           ('msg_2', 'cl_1', 'req_2', 'delivered', 'queued', '+4915112345678', 'x', 1, 30, now(), 'simulator', null),
           ('msg_3', 'cl_1', 'req_3', 'queued', 'queued', '+48500100201', 'x', 1, 15, now(), 'simulator', null)`;
  // As that release charged it.
  await sql`update messages set status = accepted_as where id = 'msg_1'`;
  await sql`
    insert into ledger_entries (account_id, kind, amount_grosze, subject_kind, subject_id)
    values ('cl_1', 'charge', -15, 'message', 'msg_1'), ('cl_1', 'charge', -30, 'message', 'msg_2'), ('cl_1', 'charge', -15, 'message', 'msg_3')`;
  await sql`
    insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot)
    values ('evt_1', 'cl_1', 'message', 'msg_2', 'message.delivered', '{}')`;
  await sql`
    insert into statements (id, account_id, month, amount_grosze, due_at)
    values ('st_1', 'cl_1', '2026-10-01', 60, now() - interval '2 days')`;
  await sql`insert into findings (kind, subject, account_id, state) values ('workflow_ended', 'msg_3', 'cl_1', 'open')`;
  await fillHistory();
  await fillPutBack();
  await fillCarriers();
  await fillNotTaken();
}

/** Messages that ended without leaving, as that release gave them a place in the history of the earlier interface. */
async function fillHistory(): Promise<void> {
  await sql`insert into accounts (id, name, mode) values ('cl_2', 'Kwiaty', 'live')`;
  const ways: [id: string, acceptedAs: string, ...statuses: string[]][] = [
    ['msg_cancelled', 'scheduled', 'cancelled'],
    ['msg_expired', 'scheduled', 'expired'],
    ['msg_released', 'scheduled', 'queued', 'expired'],
    ['msg_at_once', 'queued', 'cancelled'],
    ['msg_rejected', 'rejected'],
  ];
  for (const [id, acceptedAs, ...statuses] of ways) {
    await sql`
      insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze, give_up_at, route)
      values (${id}, 'cl_2', ${id}, 'draft', ${acceptedAs}, '+48500100200', 'x', 1, 0, now(), 'simulator')`;
    await sql`update messages set status = accepted_as, updated_at = now() where id = ${id}`;
    for (const status of statuses) {
      // An hour goes by between any two of its statuses.
      await sql`update messages set sent_key = sent_key - 3600000000 where id = ${id}`;
      await sql`update messages set status = ${status}, updated_at = now() where id = ${id}`;
    }
  }
  const [places] = await sql`select count(sent_key)::int as count from messages where account_id = 'cl_2'`;
  if (places!.count !== ways.length) throw new Error('the release before gave each of them a place');
}

/** Messages whose part was put back: by staff, and since the SMSC had not taken it. */
async function fillPutBack(): Promise<void> {
  await sql`insert into accounts (id, name, mode) values ('cl_4', 'Piekarnia', 'live')`;
  await sql`
    insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze, give_up_at, route)
    select id, 'cl_4', id, 'queued', 'queued', '+48500100200', 'x', 1, 15, now() + interval '1 day', 'simulator'
      from unnest(array['msg_resubmitted', 'msg_throttled']) as id`;
  await sql`
    insert into message_parts (message_id, part, state, route, resubmitted_at)
    values ('msg_resubmitted', 1, 'held', 'simulator', now()), ('msg_throttled', 1, 'held', 'simulator', null)`;
}

/** Messages that carry two links, in every state, sent one after the other; more than are gone through at a time. */
async function fillCarriers(): Promise<void> {
  await sql`insert into accounts (id, name, mode) values ('cl_5', 'Kawiarnia', 'live')`;
  await sql`
    insert into tracked_links (token, account_id, recipient, url)
    select token, 'cl_5', '+48500100205', 'https://example.com/' || token from unnest(array['link_1', 'link_2']) as token`;
  await sql`
    insert into messages (id, account_id, request_id, status, submission, accepted_as, recipient, text, parts, cost_grosze,
                          give_up_at, route, created_at, send_at)
    select 'msg_carrier_' || n, 'cl_5', 'req_carrier_' || n, (${STORED_STATUSES}::text[])[1 + n % ${STORED_STATUSES.length}::int],
           (array['waiting', 'submitting', 'answered', 'unanswered'])[1 + n / 16 % 4], 'queued', '+48500100205', 'x', 1, 0,
           now(), 'simulator', now() - interval '1 day', case when n % 3 > 0 then now() - interval '1 second' * n end
      from generate_series(1, 2500) as n`;
  await sql`
    insert into message_links (message_id, token)
    select id, token from messages cross join unnest(array['link_1', 'link_2']) as token where account_id = 'cl_5'`;
}

/** What is noted beside the links of messages, where it is not what the rule says. */
const wronglyNoted = (on: Database) => on`
  select l.message_id, l.token, l.answerable_at, m.status, m.submission
    from message_links l join messages m on m.id = l.message_id
   where l.answerable_at is distinct from
         case when m.status in ('sent', 'delivered', 'undelivered')
                   or m.status in ('queued', 'expired') and m.submission <> 'waiting'
              then coalesce(m.send_at, m.created_at) end`;

/** Messages as late answers left them: half submitted, and over. Of each the states of its parts. */
async function fillNotTaken(): Promise<void> {
  await sql`insert into accounts (id, name, mode) values ('cl_6', 'Apteka', 'live')`;
  const left: [id: string, status: string, submission: string, parts: string[]][] = [
    ['msg_half', 'queued', 'waiting', ['held', 'accepted']],
    ['msg_waits', 'queued', 'waiting', ['held']],
    ['msg_refused', 'expired', 'unanswered', ['held', 'refused']],
    ['msg_perhaps', 'expired', 'unanswered', ['held', 'unanswered']],
  ];
  for (const [id, status, submission, parts] of left) {
    await sql`
      insert into messages (id, account_id, request_id, status, submission, accepted_as, recipient, text, parts, cost_grosze, give_up_at, route)
      values (${id}, 'cl_6', ${id}, ${status}, ${submission}, 'queued', '+48500100200', 'x', 2, 30, now(), 'simulator')`;
    await sql`
      insert into message_parts (message_id, part, state, route)
      select ${id}, part, state, 'simulator' from unnest(${parts}::text[]) with ordinality as p(state, part)`;
  }
}

describe('from the last release’s schema, with its data', () => {
  test('every later migration runs, in its order', () => {
    const later = readdirSync(MIGRATIONS).filter((file) => file.slice(0, 3) > LAST_RELEASE);
    expect(applied).toEqual(later.sort().map((file) => `${Number(file.slice(0, 3))} ${file.split('.')[2]}`));
  });

  test('messages, money and events are as they were', async () => {
    const none = { status: null, reference: null, recipient: null, before: null };
    const messages = await readHistory(sql, 'cl_1', none, 10);
    expect(messages.map(({ id, status }) => [id, status])).toEqual([
      ['msg_3', 'queued'],
      ['msg_2', 'delivered'],
      ['msg_1', 'scheduled'],
    ]);
    const [books] = await sql`
      select balance_grosze as balance, (select sum(amount_grosze)::bigint from ledger_entries) as sum
        from accounts where id = 'cl_1'`;
    expect(books).toEqual({ balance: 940, sum: 940 });
    const [event] = await sql`select subject_kind, subject_id, state from webhook_events`;
    expect(event).toEqual({ subjectKind: 'message', subjectId: 'msg_2', state: 'pending' });
  });

  test('the history of the earlier interface keeps what was taken up for sending, and nothing else', async () => {
    const kept = await sql<{ id: string }[]>`
      select id from messages where account_id = 'cl_2' and sent_key is not null order by id`;
    expect(kept.map(({ id }) => id)).toEqual(['msg_at_once', 'msg_rejected', 'msg_released']);
  });

  test('what staff had put back counts as under way, what waits for its SMSC as waiting', async () => {
    const putBack = await sql`select id, submission from messages where account_id = 'cl_4' order by id`;
    expect([...putBack]).toEqual([
      { id: 'msg_resubmitted', submission: 'submitting' },
      { id: 'msg_throttled', submission: 'waiting' },
    ]);
  });

  test('each link has beside its messages when they were sent, of those that some network was given', async () => {
    expect([...(await wronglyNoted(sql))]).toEqual([]);
    const [noted] = await sql`select count(answerable_at)::int > 1000 as many from message_links`;
    expect(noted).toEqual({ many: true });
  });

  test('what a network has a part of counts as under way, and what it has nothing of as never submitted', async () => {
    const left = await sql`select id, submission from messages where account_id = 'cl_6' order by id`;
    expect([...left]).toEqual([
      { id: 'msg_half', submission: 'submitting' },
      { id: 'msg_perhaps', submission: 'unanswered' },
      { id: 'msg_refused', submission: 'waiting' },
      { id: 'msg_waits', submission: 'waiting' },
    ]);
  });

  test('a message accepted before can be cancelled and refunded once', async () => {
    expect(await cancelScheduled(sql, 'msg_1')).toBe('cancelled');
    expect(await cancelScheduled(sql, 'msg_1')).toBe('cancelled');
    const [account] = await sql`select balance_grosze as balance from accounts where id = 'cl_1'`;
    expect(account!.balance).toBe(955);
  });

  test('a message accepted before can be rejected now', async () => {
    await sql`update messages set status = 'rejected' where id = 'msg_3'`;
    await expect(sql`update messages set status = 'rejected' where id = 'msg_2'`).rejects.toMatchObject({
      code: 'GN409',
    });
  });

  test('no account has a contact address, so nothing of before is e-mailed; staff are told of what is still open', async () => {
    const accounts = await sql`select contact_email from accounts where id = 'cl_1'`;
    expect([...accounts]).toEqual([{ contactEmail: null }]);
    await addReminders(sql);
    expect(await listStatements(sql, 'cl_1')).toMatchObject([
      { id: 'st_1', emailStatus: null, emailedAt: null },
    ]);
    expect(await addAlert(sql)).toBe(1);
    expect(await addAlert(sql), 'once').toBe(0);
  });

  test('the release before still writes findings, statements and accounts', async () => {
    await sql`insert into accounts (id, name) values ('cl_3', 'Apteka')`;
    await sql`update accounts set name = 'Apteka 2' where id = 'cl_3'`;
    await sql`
      insert into statements (id, account_id, month, amount_grosze, due_at) values ('st_3', 'cl_3', '2026-10-01', 0, now())`;
    await sql`
      insert into findings as f (kind, subject, account_id, state, details) values ('workflow_ended', 'msg_3', 'cl_1', 'open', '{}')
      on conflict (kind, subject) do update set state = 'open', details = excluded.details, last_seen_at = now()`;
    expect((await sql`select from findings where told_by is not null`).count).toBe(1);
  });

  test('the ledger still wants exactly one subject for a charge', async () => {
    await expect(
      sql`insert into ledger_entries (account_id, kind, amount_grosze) values ('cl_1', 'charge', -1)`,
    ).rejects.toMatchObject({ code: '23514' });
  });
});

test('what becomes of a message while the links of those before are gone through is noted', async () => {
  const database = await startDatabase((url) => migrate(url, '029'));
  const { sql: on } = database;
  await on`insert into accounts (id, name) values ('cl_1', 'Sklep')`;
  await on`
    insert into tracked_links (token, account_id, recipient, url) values ('link', 'cl_1', '+48500100200', 'https://example.com/')`;
  const ids = ['msg_1', 'msg_2', 'msg_3'];
  await on`
    insert into messages (id, account_id, request_id, status, submission, accepted_as, recipient, text, parts, cost_grosze,
                          give_up_at, route)
    select id, 'cl_1', id, 'sent', 'answered', 'queued', '+48500100200', 'x', 1, 0, now(), 'simulator' from unnest(${ids}::text[]) as id`;
  await on`insert into message_links (message_id, token) select id, 'link' from messages`;
  const [changing, locking] = [await on.reserve(), await on.reserve()];
  const waits = async (lock: string) =>
    await eventually(
      () =>
        on`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and wait_event = ${lock}`,
      ({ count }) => count > 0,
    );
  await changing`begin`;
  await changing`update messages set status = 'failed' where id = 'msg_1'`;
  await locking`begin`;
  await locking`select from messages where id = 'msg_2' for update`;
  const migrating = migrate(database.url);
  // The first one’s change came before anything was noted, the second one’s comes after its links were found.
  await waits('relation');
  await changing`commit`;
  await waits('transactionid');
  await locking`update messages set status = 'failed' where id = 'msg_2'`;
  await locking`commit`;
  expect(await migrating).toContain('30 clicked-message-of-before');
  expect([...(await wronglyNoted(on))]).toEqual([]);
  expect((await on`select from message_links where answerable_at is not null`).count).toBe(1);
  for (const connection of [changing, locking]) connection.release();
  await database.stop();
});

test('a database of a release before 0.5.0 is refused, and left as it is', async () => {
  const database = await startDatabase(async (url) => {
    const old = openDatabase(url, 1);
    await old`create table schema_version (version bigint primary key, name text, md5 text, run_at timestamptz)`;
    await old`insert into schema_version (version, name) values (1, 'pipeline')`;
    await old.end();
    await expect(migrate(url)).rejects.toThrow(/release before 0\.5\.0/);
  });
  const tables = await database.sql`select tablename as name from pg_tables where schemaname = 'public'`;
  expect(tables.map(({ name }) => String(name))).toEqual(['schema_version']);
  await database.stop();
});
