-- What the operator's accounting gets: a document for each top-up, each refund and lost dispute of one, and each statement. None is ever
-- deleted, so that numbers have no gaps.
create table invoices (
  id text collate "C" primary key, -- of the payment or statement; of what went back pay_….re_…, and pay_….re_….returned where it came back
  account_id text collate "C" not null references accounts,
  subject_id text collate "C" not null, -- the payment or statement
  kind text not null check (kind in ('VAT', 'ZAL', 'KOR', 'KOR_ZAL')),
  buyer jsonb not null, -- the company profile at the time
  exported_at timestamptz not null default now(), -- for the first time: the day of issue
  year int not null default extract(year from now() at time zone 'Europe/Warsaw'),
  ordinal int, -- null: accounting numbers it
  number text not null unique, -- until accounting numbers it, its id
  ksef_number text unique,
  confirmed_at timestamptz, -- accounting has issued it
  unique (year, ordinal)
);
create index invoices_of_subject on invoices (subject_id);
