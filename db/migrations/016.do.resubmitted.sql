-- What staff have put back to be submitted again may be on a phone: it does not wait as before its first try.
update messages m set submission = 'submitting'
 where m.status = 'queued' and m.submission = 'waiting'
   and exists (select from message_parts p where p.message_id = m.id and p.resubmitted_at is not null);
