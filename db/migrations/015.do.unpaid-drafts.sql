-- Each statement by itself.
-- What costs nothing takes of its account's quota from the draft on, also where many requests come at once.
create index concurrently if not exists messages_rejected_drafts on messages (account_id, created_at) where status = 'draft' and accepted_as = 'rejected';
