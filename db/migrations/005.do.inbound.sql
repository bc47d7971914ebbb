-- Replies from phones.

create table inbound_messages (
  id text collate "C" primary key,
  carrier text not null,
  carrier_reference text collate "C" not null, -- the carrier's own id: handed over twice, it is stored once
  sender text collate "C" not null,
  receiver text collate "C",
  received_text text not null, -- as it came
  state text not null default 'received' check (state in ('received', 'matched', 'unmatched')),
  account_id text collate "C" references accounts,
  text text, -- without the keyword
  matched_by text check (matched_by in ('prefix', 'last_message')),
  reply_to text collate "C" references messages,
  opt_out boolean not null default false,
  received_at timestamptz not null default clock_timestamp(),
  read_at timestamptz,
  unique (carrier, carrier_reference),
  check ((state = 'matched') = (account_id is not null and text is not null and matched_by is not null))
);
create index inbound_messages_of_account on inbound_messages (account_id, id desc);
create index inbound_messages_by_sender on inbound_messages (account_id, sender, id desc);
create index inbound_messages_unread on inbound_messages (account_id, id desc) where read_at is null;
create index inbound_messages_received on inbound_messages (received_at) where state = 'received';
create index inbound_messages_unmatched on inbound_messages (id desc) where state = 'unmatched';

create index accounts_inbound on accounts (inbound_number) where inbound_number is not null;

-- Who wrote last to a number is asked across accounts; the history of one account by number is served as well.
create index messages_by_recipient on messages (recipient, account_id, id desc) where status not in ('draft', 'refused');
drop index messages_history_by_recipient;

alter table webhook_events add inbound_id text collate "C" references inbound_messages;
create unique index webhook_events_once_per_inbound on webhook_events (inbound_id) where inbound_id is not null;

-- Replies that the simulated SMSC has still to hand over.
create table simulator_replies (
  id bigint generated always as identity primary key,
  source text collate "C" not null,
  destination text collate "C",
  content text not null,
  created_at timestamptz not null default clock_timestamp()
);
