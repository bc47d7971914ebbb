-- API tokens of the earlier interface (v1.2.0, Authentication). Revoking is an instant, never a deletion.
create table api_tokens (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  hash bytea not null unique, -- SHA-256 of the whole token
  hint text not null,         -- prefix and last four characters, for people
  rate_limit_per_minute integer not null default 100 check (rate_limit_per_minute > 0),
  label text not null check (char_length(label) between 1 and 100),
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  revoked_at timestamptz
);
-- Of a request with several items each may have a key of its own.
alter table idempotency_keys drop constraint idempotency_keys_request_id_key;
create index idempotency_keys_request on idempotency_keys (request_id);

create index api_tokens_account on api_tokens (account_id);
