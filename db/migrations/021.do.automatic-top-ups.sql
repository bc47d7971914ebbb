-- Top-ups by a saved card once the balance is below a threshold. All amounts are net.
create table automatic_top_ups (
  account_id text collate "C" primary key references accounts,
  enabled boolean not null,
  threshold_grosze bigint not null check (threshold_grosze > 0),
  net_grosze bigint not null check (net_grosze >= 5000), -- of each
  monthly_cap_grosze bigint not null, -- of a calendar month in Poland
  -- The card as the processor keeps it; null: there is none.
  processor text,
  customer text,
  method text,
  brand text,
  last4 text check (char_length(last4) <= 4),
  last_refused_at timestamptz, -- by the bank
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (monthly_cap_grosze >= net_grosze),
  check (num_nulls(processor, customer, method, brand, last4) in (0, 5))
);
create index payments_automatic on payments (account_id, created_at) where automatic;
-- Whoever finds that one is due, there is one at a time.
create unique index payments_automatic_open on payments (account_id) where automatic and state in ('starting', 'open');
