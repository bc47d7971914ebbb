-- Each statement by itself.
-- The last message to a number that may be answered, whoever wrote it, and the last one of an account: without those that
-- cost nothing (rejected, cancelled), of which a number may have any number.
create index concurrently if not exists messages_answerable on messages (recipient, (coalesce(send_at, created_at)) desc, id desc, account_id)
  where status in ('queued', 'sent', 'delivered', 'undelivered', 'expired')
    and not (status in ('queued', 'expired') and submission = 'waiting');
