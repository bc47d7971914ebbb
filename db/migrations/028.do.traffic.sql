-- Each statement by itself.
-- Parts are in order of their submits, like delivery_reports_by_time: what a route was given in a minute, an hour, the day a week ago.
create index concurrently if not exists message_parts_by_time on message_parts using brin (submitted_at) with (autosummarize = on);
-- What wakes when, by an index-only scan; nothing is added for a message sent at once.
create index concurrently if not exists messages_scheduled on messages (send_at) include (route, parts) where status = 'scheduled';
