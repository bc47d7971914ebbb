-- Keys that end by themselves, and how much each is used.
alter table api_keys add column expires_at timestamptz;
alter table api_tokens add column expires_at timestamptz;

create table key_requests (
  key_id text collate "C" not null, -- of a key or token
  day date not null, -- in Poland
  requests bigint not null check (requests > 0),
  primary key (key_id, day)
) with (fillfactor = 50);
create index key_requests_days on key_requests (day);

-- The API brings the end of a key forward; it can neither put it off nor give a key back.
create function expire_key(given text, ends timestamptz) returns void
  language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  update api_keys set expires_at = ends where id = given and (expires_at is null or expires_at > ends);
  update api_tokens set expires_at = ends where id = given and (expires_at is null or expires_at > ends);
$$;

-- What an attempt sent beside the body, and how it was answered.
alter table webhook_attempts
  -- A line each. Of the answer only the first ones, erased with it.
  add column sent_headers text,
  add column answer_headers text;

-- Events that an account sends itself to try its webhook. Not valid, to be quick: earlier ones met the stricter one.
alter table webhook_events drop constraint webhook_events_subject_kind_check,
  add constraint webhook_events_subject_kind_check check (subject_kind in ('message', 'link', 'inbound', 'inbound_v1', 'email',
    'domain', 'verification', 'test')) not valid;

create table sender_requests (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  name text not null,
  purpose text not null check (char_length(purpose) between 1 and 500), -- what it is to be used for
  applicant text not null check (char_length(applicant) between 1 and 200), -- whose name it is
  state text not null default 'pending' check (state in ('pending', 'approved', 'rejected')),
  reason text check (char_length(reason) between 1 and 500), -- of the decision, for the account to read
  requested_by text not null, -- the person
  created_at timestamptz not null default now(),
  decided_at timestamptz,
  check ((state = 'pending') = (decided_at is null))
);
create index sender_requests_of_account on sender_requests (account_id, id desc);
create unique index sender_requests_pending on sender_requests (account_id, name) where state = 'pending';
