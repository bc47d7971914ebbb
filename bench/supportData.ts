import type { Database } from '../db/connection.ts';

/**
 * Adds to the messages of `fillWithMessages` what support looks at: their parts, delivery reports and webhook events with
 * attempts, one event in a hundred taken by nobody; and of every hundred messages some that are not over.
 */
export async function fillForSupport(sql: Database): Promise<void> {
  await sql`
    insert into message_parts (message_id, part, state, route, provider_message_id, submitted_at, answered_at, report_state, reported_at)
    select id, 1, 'accepted', 'simulator', 'sim-' || id, created_at, created_at, 'delivered', created_at + interval '4 seconds'
      from messages order by id`;
  await sql`
    insert into delivery_reports (route, provider_message_id, message_id, part, state, received_at, applied_at, look_at)
    select 'simulator', 'sim-' || id, id, 1, 'delivered', created_at + interval '4 seconds', created_at + interval '4 seconds', null
      from messages order by id`;
  await sql`
    insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot, state, created_at)
    select 'evt_' || substr(id, 5), account_id, 'message', id, 'message.delivered', '{}',
           case when random() < 0.01 then 'exhausted' else 'delivered' end, created_at
      from messages order by id`;
  await sql`update webhook_events set exhausted_at = created_at where state = 'exhausted'`;
  await sql`
    insert into webhook_attempts (event_id, attempt, url, at, duration_ms, status_code)
    select e.id, n, 'https://example.com/', e.created_at, 20, case when e.state = 'exhausted' then 500 else 200 end
      from webhook_events e cross join generate_series(1, 3) n where n = 1 or e.state = 'exhausted'`;
  // These were made as if they had ended; the database would not let them go back.
  await sql`alter table messages disable trigger user`;
  await sql`
    update messages m set status = o.status, submission = o.submission, delivered_at = null,
                          send_at = case when o.status = 'scheduled' then now() + interval '1 day' end,
                          give_up_at = now() + interval '3 days'
      from (select id, (array['scheduled', 'scheduled', 'sent', 'queued'])[k] as status,
                   (array['waiting', 'waiting', 'answered', case when random() < 0.1 then 'unanswered' else 'waiting' end])[k] as submission
              from (select id, 1 + floor(random() * 4)::int as k from messages where random() < 0.05) picked) o
     where m.id = o.id`;
  await sql`alter table messages enable trigger user`;
  await sql`vacuum (analyze)`;
}
