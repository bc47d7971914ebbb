-- What came of each message, counted when it happens: a report then reads one row beside the message instead of finding it
-- again for a million of them. Only the triggers below write here, in the transaction of what happened.
create table message_effects (
  account_id text collate "C" not null,
  created_at timestamptz not null, -- the message's
  message_id text collate "C" not null,
  refunded_grosze integer, -- null: nothing was paid back; 0: a test message was
  clicks integer not null,
  robot_clicks integer not null,
  replies integer not null,
  stops integer not null,
  page_opt_outs integer not null,
  primary key (account_id, created_at, message_id)
) with (fillfactor = 90);

-- All that a report reads of a message: its period is one stretch of this index, in the order of the table above, and the
-- table of the messages is left alone.
drop index messages_reports;
create index messages_reports on messages (account_id, created_at, id)
  include (cost_grosze, delivered_at, send_at, parts, test_credits, status, type, sender, country, reference)
  where status not in ('draft', 'refused');

create function add_effects(message text, refunded integer, clicks integer, robot_clicks integer, replies integer,
                            stops integer, page_opt_outs integer) returns void language plpgsql as $$
begin
  insert into message_effects as e
    (account_id, created_at, message_id, refunded_grosze, clicks, robot_clicks, replies, stops, page_opt_outs)
  select m.account_id, m.created_at, m.id, $2, $3, $4, $5, $6, $7 from messages m where m.id = $1
  on conflict on constraint message_effects_pkey do update
     set refunded_grosze = coalesce(e.refunded_grosze, excluded.refunded_grosze),
         clicks = e.clicks + excluded.clicks, robot_clicks = e.robot_clicks + excluded.robot_clicks,
         replies = e.replies + excluded.replies, stops = e.stops + excluded.stops,
         page_opt_outs = e.page_opt_outs + excluded.page_opt_outs;
end $$;

create function add_refund() returns trigger language plpgsql as $$
begin
  perform add_effects(new.message_id, new.amount_grosze::integer, 0, 0, 0, 0, 0);
  return null;
end $$;
create trigger ledger_effects after insert on ledger_entries
  for each row when (new.kind = 'refund' and new.message_id is not null) execute function add_refund();

create function add_click() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and (old.message_id, old.robot) is not distinct from (new.message_id, new.robot) then
    return null;
  end if;
  if tg_op <> 'INSERT' and old.message_id is not null then
    perform add_effects(old.message_id, null, -1, -old.robot::integer, 0, 0, 0);
  end if;
  if tg_op <> 'DELETE' and new.message_id is not null then
    perform add_effects(new.message_id, null, 1, new.robot::integer, 0, 0, 0);
  end if;
  return null;
end $$;
create trigger link_clicks_effects after insert or update or delete on link_clicks
  for each row execute function add_click();

create function add_reply() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and (old.reply_to, old.opt_out) is not distinct from (new.reply_to, new.opt_out) then
    return null;
  end if;
  if tg_op <> 'INSERT' and old.reply_to is not null then
    perform add_effects(old.reply_to, null, 0, 0, -1, -old.opt_out::integer, 0);
  end if;
  if tg_op <> 'DELETE' and new.reply_to is not null then
    perform add_effects(new.reply_to, null, 0, 0, 1, new.opt_out::integer, 0);
  end if;
  return null;
end $$;
create trigger inbound_messages_effects after insert or update or delete on inbound_messages
  for each row execute function add_reply();

-- An opt-out on the page belongs to the last message to the number by its send time, of those that the network was given:
-- what never came made nobody opt out. As with clicks, that is found once, when the number is listed.
alter table blacklist add message_id text collate "C" references messages;
create function message_before(entry blacklist) returns text language sql stable as $$
  select m.id from messages m
   where m.account_id = entry.account_id and m.recipient = entry.msisdn and m.status not in ('draft', 'refused')
     and m.status in ('queued', 'sent', 'delivered', 'undelivered', 'expired')
     and not (m.status = 'expired' and m.submission = 'waiting')
     and coalesce(m.send_at, m.created_at) <= entry.created_at
   order by coalesce(m.send_at, m.created_at) desc, m.id desc limit 1
$$;
create function attribute_opt_out() returns trigger language plpgsql as $$
begin
  if new.reason is distinct from 'opt_out' then
    new.message_id := null;
  elsif tg_op = 'INSERT' or (old.reason, old.created_at) is distinct from (new.reason, new.created_at) then
    new.message_id := message_before(new);
  end if;
  return new;
end $$;
create trigger blacklist_attribution before insert or update on blacklist
  for each row execute function attribute_opt_out();

create function add_opt_out() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.message_id is not distinct from new.message_id then
    return null;
  end if;
  if tg_op <> 'INSERT' and old.message_id is not null then
    perform add_effects(old.message_id, null, 0, 0, 0, 0, -1);
  end if;
  if tg_op <> 'DELETE' and new.message_id is not null then
    perform add_effects(new.message_id, null, 0, 0, 0, 0, 1);
  end if;
  return null;
end $$;
create trigger blacklist_effects after insert or update or delete on blacklist
  for each row execute function add_opt_out();

-- What happened before. From here on the triggers hold off whoever would write to these tables in between.
insert into message_effects
  (account_id, created_at, message_id, refunded_grosze, clicks, robot_clicks, replies, stops, page_opt_outs)
select m.account_id, m.created_at, m.id, sum(h.refunded), sum(h.clicks), sum(h.robot_clicks), sum(h.replies),
       sum(h.stops), 0
  from (
    select message_id, amount_grosze as refunded, 0 as clicks, 0 as robot_clicks, 0 as replies, 0 as stops
      from ledger_entries where kind = 'refund' and message_id is not null
    union all
    select message_id, null, 1, robot::integer, 0, 0 from link_clicks where message_id is not null
    union all
    select reply_to, null, 0, 0, 1, opt_out::integer from inbound_messages where reply_to is not null
  ) h
  join messages m on m.id = h.message_id
 group by m.account_id, m.created_at, m.id
 order by m.account_id, m.created_at, m.id;
update blacklist b set message_id = message_before(b) where reason = 'opt_out';

drop index ledger_refunds;
drop index link_clicks_reports;
drop index inbound_messages_replies;
drop index blacklist_opt_outs;
