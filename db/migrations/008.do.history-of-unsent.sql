-- Each statement by itself.
-- The history of the earlier interface lists what was taken up for sending. A scheduled message that is cancelled, or whose time is
-- over while it still waits, never was.
create or replace trigger messages_sent_key before update of status on messages
  for each row when (old.status = 'draft' and new.status not in ('draft', 'scheduled')
                     or old.status = 'scheduled' and new.status = 'queued')
  execute function take_sent_key();

-- Those that were listed when they ended: their place is of that very second, not of an earlier one.
update messages set sent_key = null
 where sent_key is not null and accepted_as = 'scheduled'
   and (status = 'cancelled' or status = 'expired' and submission = 'waiting')
   and sent_key / 1000000 >= floor(extract(epoch from updated_at));
