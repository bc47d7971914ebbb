-- Each statement by itself.
-- Whether a submit to a phone may still be answered is seen in what is under way to it, however many messages it got, and however many wait.
create index concurrently if not exists messages_submitting on messages (recipient) where submission in ('submitting', 'unanswered');
-- An account's last message to a number that may be answered is found however many others have written there: as messages_answerable, by account.
create index concurrently if not exists messages_answerable_of_account
  on messages (recipient, account_id, (coalesce(send_at, created_at)) desc, id desc)
  where status in ('queued', 'sent', 'delivered', 'undelivered', 'expired')
    and not (status in ('queued', 'expired') and submission = 'waiting');
drop index concurrently if exists messages_answerable;
