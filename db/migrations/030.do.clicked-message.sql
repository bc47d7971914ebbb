-- Which message a click belongs to is found by reading one row, however many messages carried the link: beside each link
-- of a message stands its send time, as long as some network was given it, or may have been, so that somebody may have
-- clicked; else null. What is cancelled or rejected is not in the index.
alter table message_links add column answerable_at timestamptz;
create index message_links_answerable on message_links (token, answerable_at desc, message_id desc) where answerable_at is not null;

-- What waits to be submitted was given to no network. As in the conditions of `message_before` and `messages_answerable`.
create function is_answerable(status text, submission text) returns boolean language sql immutable parallel safe as $$
  select status in ('queued', 'sent', 'delivered', 'undelivered', 'expired')
     and not (status in ('queued', 'expired') and submission = 'waiting')
$$;

-- Only rows of the message's own are written, so that messages with one link never wait for each other. Links are written
-- with their drafts, and a draft is not answerable.
create function note_answerable() returns trigger language plpgsql as $$
begin
  update message_links
     set answerable_at = case when is_answerable(new.status, new.submission) then coalesce(new.send_at, new.created_at) end
   where message_id = new.id;
  return null;
end $$;
