-- Each statement by itself.
-- What waits to be submitted again, and the SMSC may have of the submit before: its delivery reports are looked for.
create index concurrently if not exists message_parts_resubmitted on message_parts (route, submitted_at)
  where state = 'held' and resubmitted_at is not null;
