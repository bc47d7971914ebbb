import type { Database } from '../db/connection.ts';

/** The account that is reported on, and the one whose messages lie between its own. */
export const REPORTED = 'cl_00000000000000000000000001';
const OTHER = 'cl_00000000000000000000000002';

const YEAR_SECONDS = 366 * 86_400;

/**
 * Fills an empty schema with messages of the last 366 days, of two accounts in turn: seven senders, five countries, half
 * of the references campaigns and half unique, deliveries after 4 s (half of them) or, one in fifty, minutes to hours, 4 %
 * refunded, clicks, replies, opt-outs.
 * @param count messages of each of the two accounts
 */
export async function fillWithMessages(sql: Database, count: number): Promise<void> {
  await sql`insert into accounts (id, name, mode) values (${REPORTED}, 'Reported', 'live'), (${OTHER}, 'Other', 'live')`;
  await sql`
    insert into ledger_entries (account_id, kind, amount_grosze)
    select id, 'opening', 1000000000 from accounts`;
  await insertMessages(sql, count);
  await insertEntries(sql);
  await insertClicks(sql);
  await insertReplies(sql);
  await sql`vacuum (analyze)`;
}

async function insertMessages(sql: Database, count: number): Promise<void> {
  await sql`
    insert into messages (id, account_id, request_id, channel, status, accepted_as, recipient, sender, text, parts,
                          cost_grosze, reference, send_at, give_up_at, route, submission, delivered_at, created_at,
                          updated_at, country, sent_key)
    select 'msg_' || lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || lpad(to_hex(i), 14, '0'),
           case when i % 2 = 0 then ${REPORTED} else ${OTHER} end, 'req_' || lpad((i / 10)::text, 26, '0'), 'sms', status,
           'queued', case when i % 40 = 0 then '+49151' else '+48500' end || lpad((i / 2 % 300000)::text, 6, '0'),
           case when s < 0.01 then null else 'SHOP' || floor(s * 7) end,
           repeat('Paczka czeka w punkcie. ', 5) || i, parts, parts * 10,
           case when s < 0.2 then null when s < 0.6 then 'campaign-' || i / 40000 else 'order-' || i end,
           null, at + interval '3 days', 'simulator', 'answered',
           case when status = 'delivered' then at + make_interval(secs => exp(r)) end, at, at,
           case when i % 40 = 0 then (array['DE', 'CZ', 'GB', 'UA'])[1 + i / 40 % 4] else 'PL' end,
           floor(extract(epoch from at))::bigint * 1000000 + i % 1000000
      from (select i, now() - make_interval(secs => ${YEAR_SECONDS}::float8 * (1 - i::float8 / ${count * 2})) as at,
                   random() as s, random_normal(1.4, 0.8) + case when random() < 0.02 then 5 else 0 end as r, 1 + floor(random() ^ 4 * 4)::int as parts,
                   (array['delivered','delivered','delivered','delivered','delivered','delivered','delivered','delivered',
                          'delivered','delivered','delivered','delivered','delivered','delivered','delivered','delivered',
                          'delivered','delivered','delivered','delivered','undelivered','expired','failed',
                          'cancelled'])[1 + floor(random() * 24)] as status
              from generate_series(1, ${count * 2}::int) as i) as made`;
}

async function insertEntries(sql: Database): Promise<void> {
  await sql`
    insert into ledger_entries (account_id, kind, amount_grosze, subject_kind, subject_id, created_at)
    select account_id, 'charge', -cost_grosze, 'message', id, created_at from messages order by id`;
  await sql`
    insert into ledger_entries (account_id, kind, amount_grosze, subject_kind, subject_id, created_at)
    select account_id, 'refund', cost_grosze, 'message', id, created_at + interval '1 minute'
      from messages where status = 'cancelled' order by id`;
}

/** One message in five carries a link of its recipient; one link in ten is clicked, some of them often. */
async function insertClicks(sql: Database): Promise<void> {
  await sql`
    insert into tracked_links (token, account_id, recipient, url)
    select 't' || row_number() over (), account_id, recipient, 'https://example.com/'
      from (select distinct account_id, recipient from messages where right(id, 1) in ('0', '4', '8')) as recipients`;
  await sql`
    insert into message_links (message_id, token, answerable_at)
    select m.id, l.token, case when is_answerable(m.status, m.submission) then coalesce(m.send_at, m.created_at) end
      from messages m join tracked_links l using (account_id, recipient)
     where right(m.id, 1) in ('0', '4', '8') order by m.id`;
  await sql`
    create unlogged table clicked as
    select c.token, m.created_at + interval '1 hour' as clicked_at, random() < 0.1 as robot, m.id as message_id
      from message_links c join messages m on m.id = c.message_id
      cross join generate_series(1, 2) where random() < 0.1`;
  await sql`
    insert into link_clicks (token, place, clicked_at, robot, message_id)
    select token, number % 50, clicked_at, robot, message_id
      from (select *, row_number() over (partition by token order by clicked_at) as number from clicked) c
     where number <= 50`;
  await sql`
    update tracked_links l set clicks = c.n, first_click_at = c.first, last_click_at = c.last
      from (select token, count(*) as n, min(clicked_at) as first, max(clicked_at) as last
              from clicked group by token) as c
     where c.token = l.token`;
  await sql`
    insert into message_effects as e (account_id, created_at, message_id, clicks, robot_clicks)
    select m.account_id, m.created_at, m.id, count(*), count(*) filter (where c.robot)
      from clicked c join messages m on m.id = c.message_id group by m.id
    on conflict on constraint message_effects_pkey do update
       set clicks = e.clicks + excluded.clicks, robot_clicks = e.robot_clicks + excluded.robot_clicks`;
  await sql`drop table clicked`;
}

/** One message in fifty is answered; one answer in five is a STOP. */
async function insertReplies(sql: Database): Promise<void> {
  await sql`
    insert into inbound_messages (id, route, provider_reference, sender, received_text, state, account_id, text,
                                  matched_by, reply_to, opt_out, received_at)
    select 'inb_' || right(id, 26), 'simulator', id, recipient, 'TAK', 'matched', account_id, 'TAK', 'last_message', id,
           random() < 0.2, created_at + interval '10 minutes'
      from messages where random() < 0.02 order by id`;
  await sql`
    insert into blacklist (account_id, msisdn, reason, created_at)
    select account_id, sender, 'opt_out', max(received_at) from inbound_messages where opt_out group by 1, 2`;
}
