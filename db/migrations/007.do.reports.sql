-- What reports group by and add up.

alter table messages add country text; -- ISO 3166-1 alpha-2; null where the number belongs to none
update messages set country = 'PL' where recipient like '+48%';

-- All that a report reads of a message: its period is one stretch of this index, and the table is left alone.
create index messages_reports on messages (account_id, created_at)
  include (id, status, type, sender, country, reference, parts, cost_grosze, test_credits, send_at, delivered_at)
  where status not in ('draft', 'refused');

create index ledger_refunds on ledger_entries (account_id, created_at) include (message_id, amount_grosze)
  where kind = 'refund' and message_id is not null;
create index ledger_lookups on ledger_entries (account_id, created_at) where lookup_id is not null;
create index inbound_messages_replies on inbound_messages (account_id, received_at) include (reply_to, opt_out)
  where reply_to is not null;
create index blacklist_opt_outs on blacklist (account_id, created_at) include (msisdn) where reason = 'opt_out';

-- A link may be carried by many messages. A click belongs to the last of them by its send time, of those that the
-- network was given: one that was cancelled, rejected, failed or expired before its submit has brought nobody to its
-- link. That is found when the click is counted, once, as finding it for each click of a year takes a report seconds.
alter table link_clicks
  add account_id text collate "C" references accounts,
  add message_id text collate "C" references messages;
create index link_clicks_reports on link_clicks (account_id, clicked_at) include (message_id, robot)
  where message_id is not null;

create function attribute_click() returns trigger language plpgsql as $$
begin
  select m.account_id, m.id into new.account_id, new.message_id
    from message_links l join messages m on m.id = l.message_id
   where l.token = new.token and m.status in ('queued', 'sent', 'delivered', 'undelivered', 'expired')
     and not (m.status = 'expired' and m.submission = 'waiting')
     and coalesce(m.send_at, m.created_at) <= new.clicked_at
   order by coalesce(m.send_at, m.created_at) desc, m.id desc limit 1;
  return new;
end $$;
create trigger link_clicks_attribution before update of counted_at on link_clicks
  for each row when (old.counted_at is null and new.counted_at is not null) execute function attribute_click();
