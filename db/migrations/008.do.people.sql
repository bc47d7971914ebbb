-- People who use the panel. Of links, codes and sessions only hashes are kept.
create table people (
  id text collate "C" primary key,
  address text collate "C" not null unique check (char_length(address) <= 254), -- in lower case, the domain in A-labels
  created_at timestamptz not null default now()
);

create table memberships (
  person_id text collate "C" not null references people on delete cascade,
  account_id text collate "C" not null references accounts,
  role text not null check (role in ('owner', 'developer', 'billing', 'reader')),
  created_at timestamptz not null default now(),
  primary key (person_id, account_id)
);
create index memberships_of_account on memberships (account_id);

-- E-mails asked for to sign in. Rows are kept for a day, for the limits.
create table sign_ins (
  id text collate "C" primary key,
  address text collate "C" not null,
  network inet not null, -- of who asked; of IPv6 the /64
  browser_hash bytea not null, -- SHA-256 of the cookie of the browser that asked
  link_hash bytea not null unique, -- SHA-256
  code_hash bytea not null, -- HMAC with the cookie as its key: a million codes are soon tried
  guesses smallint not null default 0 check (guesses between 0 and 5),
  next text, -- path to open afterwards
  opened_account boolean not null default false, -- the first sign-in of its address
  used_at timestamptz,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '15 minutes'
);
create index sign_ins_of_address on sign_ins (address, created_at);
create index sign_ins_of_network on sign_ins (network, created_at);
create index sign_ins_of_browser on sign_ins (browser_hash, created_at);
create index sign_ins_by_time on sign_ins (created_at);

create table sessions (
  id text collate "C" primary key,
  token_hash bytea not null unique, -- SHA-256
  person_id text collate "C" not null references people on delete cascade,
  account_id text collate "C", -- the one shown; null: the person has none
  assurance text not null check (assurance in ('address')), -- what the person has proved
  address inet not null,
  device text check (char_length(device) <= 60), -- browser and system; null: unknown
  created_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  -- Who leaves an account is out at once.
  foreign key (person_id, account_id) references memberships on delete cascade
);
create index sessions_of_person on sessions (person_id, created_at);
create index sessions_of_account on sessions (account_id);
create index sessions_by_time on sessions (last_seen_at);

alter table api_keys
  add column label text check (char_length(label) between 1 and 100),
  add column created_by text; -- the person, or staff
alter table api_tokens add column created_by text;

-- Texts with secrets wait encrypted.
alter table email_contents add column sealed bytea;

-- What the API does of that which only staff may do: it can neither give a key back, nor open an account that is no test account.
create function revoke_key(given text) returns void language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  update api_keys set revoked_at = now() where id = given and revoked_at is null;
  update api_tokens set revoked_at = now() where id = given and revoked_at is null;
$$;
create function open_test_account(account text, title text, contact text) returns void
  language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  insert into accounts (id, name, mode, contact_email) values (account, title, 'test', contact);
$$;
