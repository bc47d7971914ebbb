-- Each statement by itself.
-- An account is shown the replies that a rule gives it; of those that only its number got there may be any number.
create index concurrently if not exists inbound_messages_matched on inbound_messages (account_id, id desc) where state = 'matched';
create index concurrently if not exists inbound_messages_matched_unread on inbound_messages (account_id, id desc)
  where state = 'matched' and read_at is null;
drop index concurrently if exists inbound_messages_unread;
-- Whole, as an erasure finds by it whatever became of a person's replies.
create index concurrently if not exists inbound_messages_of_sender on inbound_messages (account_id, sender, state, id desc);
drop index concurrently if exists inbound_messages_by_sender;
-- Those that staff are shown, which were found as being of no account.
create index concurrently if not exists inbound_messages_of_nobody on inbound_messages (id desc) where state = 'unmatched' and account_id is null;
drop index concurrently if exists inbound_messages_unmatched;
drop index concurrently if exists inbound_messages_of_account;
