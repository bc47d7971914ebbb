-- Documents of monthly statements, made by a worker from what the statement was issued with. Earlier statements have none.
create table statement_documents (
  statement_id text collate "C" primary key references statements,
  account_name text not null,
  buyer jsonb, -- the company profile at issue; null: there was none
  postpaid_since timestamptz, -- of the account at issue: earlier charges are in no statement
  -- Null: not made yet.
  pdf bytea check (octet_length(pdf) <= 5000000),
  csv bytea check (octet_length(csv) <= 5000000),
  made_at timestamptz,
  check (num_nulls(pdf, csv, made_at) in (0, 3))
);
create index statement_documents_wanted on statement_documents (statement_id) where made_at is null;
