-- Payments by a processor: top-ups, and statements paid by the same checkout.

-- Who buys, for the operator's invoices: a company with its NIP, or a consumer.
create table company_profiles (
  account_id text collate "C" primary key references accounts,
  kind text not null check (kind in ('company', 'consumer')),
  name text not null check (char_length(name) between 1 and 200),
  nip text check (nip ~ '^[0-9]{10}$'),
  street text not null check (char_length(street) between 1 and 200), -- with the number
  postal_code text not null check (postal_code ~ '^[0-9]{2}-[0-9]{3}$'),
  city text not null check (char_length(city) between 1 and 100),
  updated_at timestamptz not null default now(),
  check ((kind = 'company') = (nip is not null))
);

create table payments (
  id text collate "C" primary key, -- also of its workflow
  account_id text collate "C" not null references accounts,
  statement_id text collate "C" references statements, -- null: a top-up
  net_grosze bigint not null check (net_grosze > 0),
  vat_grosze bigint not null check (vat_grosze >= 0),
  gross_grosze bigint not null,
  buyer jsonb not null, -- the company profile at the time
  automatic boolean not null default false, -- by the saved card
  processor text not null,
  language text not null default 'pl' check (language in ('pl', 'en')),
  return_url text, -- where the processor sends the payer afterwards
  session text unique, -- the checkout at the processor
  session_url text,
  reference text collate "C" unique, -- of the processor's payment, such as stripe:pi_…; its ledger entry has the same
  method text,
  -- starting: the processor has not been asked yet; open: it can be paid, or is paid and not confirmed
  state text not null default 'starting' check (state in ('starting', 'open', 'paid', 'expired', 'failed')),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '24 hours',
  paid_at timestamptz,
  look_asked_at timestamptz, -- when the payer's return last asked to look
  check (gross_grosze = net_grosze + vat_grosze),
  check ((state = 'paid') = (paid_at is not null)),
  check (state <> 'paid' or reference is not null)
);
create index payments_of_account on payments (account_id, id desc);
create index payments_of_statement on payments (statement_id) where statement_id is not null;
create index payments_open on payments (account_id) where state in ('starting', 'open');
create index payments_paid on payments (paid_at) where state = 'paid';

-- Money that went back: refunds, and disputes while the payer has the money.
create table payment_reversals (
  payment_id text collate "C" not null references payments,
  id text collate "C" not null, -- the processor's
  kind text not null check (kind in ('refund', 'dispute')),
  gross_grosze bigint not null check (gross_grosze > 0),
  net_grosze bigint not null check (net_grosze >= 0), -- what the ledger booked
  created_at timestamptz not null default now(),
  returned_at timestamptz, -- the refund failed, or the dispute was won; null: the money is gone
  primary key (payment_id, id)
);

-- What a worker finds paid fixes the price and makes an account live. It sets no price that no top-up fixes.
create function set_terms(given text, price integer, sends_live boolean) returns void
  language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  update accounts
     set price_per_part_grosze = price, mode = case when sends_live then 'live' else 'test' end, updated_at = now()
   where id = given and (price = price_per_part_grosze or price between 10 and 15);
$$;

-- Workers and the command line alone, see db/rights.ts.
revoke execute on function set_terms from public;

-- Not valid, to be quick: earlier entries met the stricter one.
alter table ledger_entries drop constraint ledger_entries_kind_check,
  add constraint ledger_entries_kind_check check (kind in
    ('opening', 'topup', 'charge', 'refund', 'adjustment', 'payment', 'payment_refund', 'dispute')) not valid;

alter table reservations drop constraint reservations_kind_check,
  add constraint reservations_kind_check check (kind in ('message', 'email', 'lookup', 'reply', 'event', 'resend', 'payment')) not valid;

-- The simulated processor.
create table simulated_checkouts (
  session text collate "C" primary key,
  payment_id text collate "C" not null unique, -- ours, not checked: a processor knows nothing of our tables
  account_id text collate "C" not null,
  gross_grosze bigint not null,
  currency text not null default 'PLN',
  live boolean not null default false,
  description text not null,
  return_url text not null,
  save_card boolean not null,
  state text not null default 'open' check (state in ('open', 'unpaid', 'paid', 'expired', 'failed')),
  reference text collate "C" unique, -- once the payer has decided
  method text,
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index simulated_checkouts_by_time on simulated_checkouts (created_at);
create table simulated_reversals (
  id text collate "C" primary key,
  session text collate "C" not null references simulated_checkouts,
  kind text not null check (kind in ('refund', 'dispute')),
  gross_grosze bigint not null,
  stands boolean not null default true,
  created_at timestamptz not null default now()
);
