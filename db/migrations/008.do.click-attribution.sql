-- A click belongs to the last message with the link by its send time, of those that the network was given: one that
-- was cancelled, rejected, failed or expired before its submit has brought nobody to its link.
create or replace function attribute_click() returns trigger language plpgsql as $$
begin
  select m.account_id, m.id into new.account_id, new.message_id
    from message_links l join messages m on m.id = l.message_id
   where l.token = new.token and m.status in ('queued', 'sent', 'delivered', 'undelivered', 'expired')
     and not (m.status = 'expired' and m.submission = 'waiting')
     and coalesce(m.send_at, m.created_at) <= new.clicked_at
   order by coalesce(m.send_at, m.created_at) desc, m.id desc limit 1;
  return new;
end $$;
