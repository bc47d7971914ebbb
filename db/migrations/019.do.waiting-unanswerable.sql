-- What waits to be submitted was given to no network, for however long: it has brought nobody to its link, and made nobody
-- opt out.
create or replace function message_of_click(link text, clicked timestamptz) returns text language sql stable as $$
  select m.id
    from message_links l join messages m on m.id = l.message_id
   where l.token = link and m.status in ('queued', 'sent', 'delivered', 'undelivered', 'expired')
     and not (m.status in ('queued', 'expired') and m.submission = 'waiting')
     and coalesce(m.send_at, m.created_at) <= clicked
   order by coalesce(m.send_at, m.created_at) desc, m.id desc limit 1
$$;

create or replace function message_before(entry blacklist) returns text language sql stable as $$
  select m.id from messages m
   where m.account_id = entry.account_id and m.recipient = entry.msisdn and m.status <> 'draft'
     and m.status in ('queued', 'sent', 'delivered', 'undelivered', 'expired')
     and not (m.status in ('queued', 'expired') and m.submission = 'waiting')
     and coalesce(m.send_at, m.created_at) <= entry.created_at
   order by coalesce(m.send_at, m.created_at) desc, m.id desc limit 1
$$;
