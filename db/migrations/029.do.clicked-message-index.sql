-- Each statement by itself.
-- The last message that somebody may have clicked in, by its link; what is cancelled or rejected is not in it.
create index concurrently if not exists message_links_answerable on message_links (token, answerable_at desc, message_id desc)
  where answerable_at is not null;
