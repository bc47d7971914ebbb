-- Each statement by itself.
-- The ledger as its account reads it. Sums come from the index alone; what is neither a charge nor a refund is rare.
create index concurrently if not exists ledger_costs on ledger_entries (account_id, created_at, id)
  include (kind, amount_grosze, test_credits) where kind in ('charge', 'refund');
create index concurrently if not exists ledger_others on ledger_entries (account_id, created_at, id)
  where kind not in ('charge', 'refund');
drop index concurrently if exists ledger_sums;
create index concurrently if not exists payment_reversals_by_id on payment_reversals (id);

-- Who gets the account's e-mails about money, beside the contact address that staff set.
alter table memberships add column if not exists alerted boolean not null default false;

-- What an account was told about its balance. Not in `accounts`, whose rows sends lock.
create table if not exists balance_alerts (
  account_id text collate "C" primary key references accounts,
  low_balance_grosze bigint check (low_balance_grosze > 0), -- what is left is low below it; null: never
  is_low boolean not null default false, -- as told
  runway_days smallint not null default 99 check (runway_days in (1, 3, 7, 99)), -- as told; 99: more
  daily_cost_grosze double precision, -- null: nothing was charged
  cost_at timestamptz not null default now() -- when it is summed again
);
create index concurrently if not exists balance_alerts_by_cost on balance_alerts (cost_at);

alter table own_emails drop constraint if exists own_emails_kind_check,
  add constraint own_emails_kind_check check (kind in ('statement', 'due', 'reminder', 'balance_low', 'runway'));

-- Not valid, to be quick: earlier events met the stricter one.
alter table webhook_events drop constraint if exists webhook_events_subject_kind_check,
  add constraint webhook_events_subject_kind_check check (subject_kind in ('message', 'link', 'inbound', 'inbound_v1', 'email',
    'domain', 'verification', 'test', 'balance')) not valid;
