-- Looking after itself: what the reconciliation finds and mends, and how far the regular work has come.

-- One row for each thing found. What a person has to look at is open; what was put right is mended; what was open and is
-- no longer so, for whatever reason, is gone.
create table findings (
  id bigint generated always as identity primary key,
  kind text not null,
  subject text collate "C" not null, -- the id of the message, look-up, request or account
  account_id text collate "C" references accounts,
  state text not null check (state in ('open', 'mended', 'gone')),
  mended integer not null default 0, -- how often
  details jsonb not null default '{}', -- never personal data
  first_seen_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  unique (kind, subject)
);
create index findings_open on findings (id) where state = 'open';

-- Where work that goes on from run to run has come to.
create table maintenance_positions (
  name text primary key,
  position text collate "C" not null,
  updated_at timestamptz not null default now()
);

-- Of each account, the sums of its ledger up to an entry: the next check adds only what came after it.
create table ledger_checks (
  account_id text collate "C" primary key references accounts,
  entry_id bigint not null,
  sum_grosze bigint not null,
  sum_test_credits bigint not null,
  checked_at timestamptz not null default now()
);

-- When text and number were taken out of a message or reply; null: they are there.
alter table messages add erased_at timestamptz;
alter table inbound_messages add erased_at timestamptz;

-- Messages whose text is due to be erased and that had not ended yet: looked at again every day.
create table erasures_postponed (
  message_id text collate "C" primary key references messages
);

-- A draft is deleted after a day, and every reference to messages is asked then.
create index link_clicks_of_message on link_clicks (message_id) where message_id is not null;
create index inbound_messages_reply_to on inbound_messages (reply_to) where reply_to is not null;
create index blacklist_of_message on blacklist (message_id) where message_id is not null;
create index outcome_signals_of_message on outcome_signals (message_id);

-- Whose link it was is forgotten when that person is erased; it leads on.
alter table tracked_links alter recipient drop not null;
