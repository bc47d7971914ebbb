-- Each statement by itself.
-- How many messages and e-mails wait for a route, and with how many nobody knows whether it has them, is counted without reading any.
create index concurrently if not exists messages_queued on messages (route, submission) where status = 'queued';
drop index concurrently if exists messages_waiting;
create index concurrently if not exists emails_queued on emails (route, submission) where status = 'queued';
drop index concurrently if exists emails_waiting;
-- That a route was never used is seen in some kilobytes. Kept for each insert, a tree of the routes would be as large as that of the ids.
create index concurrently if not exists messages_route on messages
  using brin (route text_bloom_ops (n_distinct_per_range = 16, false_positive_rate = 0.001)) with (autosummarize = on);
create index concurrently if not exists message_parts_route on message_parts
  using brin (route text_bloom_ops (n_distinct_per_range = 16, false_positive_rate = 0.001)) with (autosummarize = on);
create index concurrently if not exists delivery_reports_route on delivery_reports
  using brin (route text_bloom_ops (n_distinct_per_range = 16, false_positive_rate = 0.001)) with (autosummarize = on);
create index concurrently if not exists emails_route on emails
  using brin (route text_bloom_ops (n_distinct_per_range = 16, false_positive_rate = 0.001)) with (autosummarize = on);
-- Of a person all look-ups are erased, whatever became of them.
create index concurrently if not exists number_lookups_of_number on number_lookups (msisdn);
