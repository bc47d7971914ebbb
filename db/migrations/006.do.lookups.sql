-- Number look-ups (HLR): each is charged once, like a message.

create table number_lookups (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  msisdn text collate "C" not null,
  -- open: nobody has decided yet; charged: the provider is being asked; refused: never charged, never asked
  state text not null default 'open' check (state in ('open', 'charged', 'done', 'failed', 'refused')),
  reason text, -- why it failed or was refused
  cost_grosze integer not null check (cost_grosze >= 0),
  status text check (status in ('active', 'inactive', 'invalid', 'unknown')),
  network text,
  mcc text,
  mnc text,
  ported boolean,
  created_at timestamptz not null default now(),
  checked_at timestamptz,
  check ((state = 'done') = (status is not null and checked_at is not null))
);
-- Two look-ups of one number at the same time are one.
create unique index number_lookups_under_way on number_lookups (account_id, msisdn) where state in ('open', 'charged');
create index number_lookups_known on number_lookups (account_id, msisdn, checked_at desc) where state = 'done';

alter table ledger_entries
  add lookup_id text collate "C" references number_lookups,
  drop constraint ledger_entries_check,
  add constraint ledger_entries_subject check (kind not in ('charge', 'refund') or num_nonnulls(message_id, lookup_id) = 1);
create unique index ledger_once_per_lookup on ledger_entries (lookup_id, kind) where lookup_id is not null;
