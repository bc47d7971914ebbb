-- Which message a click belongs to is found by reading one row, however many messages carried the link: beside each link
-- of a message stands its send time, as long as some network was given it, or may have been, so that somebody may have
-- clicked; else null.
alter table message_links add column answerable_at timestamptz;

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
