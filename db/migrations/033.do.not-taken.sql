-- A message of which a network has, or may have, a part does not wait as before its first try.
update messages m set submission = 'submitting'
 where m.status = 'queued' and m.submission = 'waiting'
   and exists (select from message_parts p where p.message_id = m.id and p.state <> 'held');

-- One whose time was over while it was submitted, and of which the network then said that it had taken nothing, counts as never submitted:
-- the reconciliation refunds it.
update messages m set submission = 'waiting'
 where m.status = 'expired' and m.submission = 'unanswered'
   and exists (select from message_parts p where p.message_id = m.id)
   and not exists (select from message_parts p where p.message_id = m.id
                      and (p.resubmitted_at is not null or p.state not in ('held', 'refused')));
