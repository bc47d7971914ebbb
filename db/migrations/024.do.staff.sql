-- Staff who use the console. Apart from the people of the panel, so that the API can neither read nor change who they are.
create table staff (
  id text collate "C" primary key,
  address text collate "C" not null unique check (char_length(address) <= 254), -- in lower case, the domain in A-labels
  name text not null unique check (char_length(name) between 1 and 64), -- as the audit log names them
  role text not null check (role in ('support', 'operator', 'finance', 'admin')),
  totp_secret bytea not null, -- encrypted
  totp_step bigint not null default 0, -- of the last code: none is taken twice
  totp_guesses smallint not null default 0, -- since the last right one
  totp_guessed_at timestamptz,
  added_by text not null,
  created_at timestamptz not null default now()
);

create table staff_passkeys (
  id text collate "C" primary key check (char_length(id) <= 1400), -- made by the authenticator, in base64url
  staff_id text collate "C" not null references staff on delete cascade,
  label text not null check (char_length(label) between 1 and 100),
  public_key bytea not null, -- COSE
  counter bigint not null, -- of its signatures
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index staff_passkeys_of_staff on staff_passkeys (staff_id);

-- Challenges that passkeys have answered: none is taken twice.
create table answered_challenges (
  challenge text collate "C" primary key,
  at timestamptz not null default now()
);

create table staff_sessions (
  id text collate "C" primary key,
  token_hash bytea not null unique, -- SHA-256
  staff_id text collate "C" not null references staff on delete cascade,
  is_proved boolean not null, -- by a passkey, or by the link and the authenticator app
  visited_account_id text collate "C" references accounts, -- as its customer sees it
  address inet not null,
  device text check (char_length(device) <= 60), -- browser and system; null: unknown
  created_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now()
);
create index staff_sessions_of_staff on staff_sessions (staff_id);

-- What one of staff asks for and another has to approve. The arguments may hold personal data: they are kept until it is decided.
create table approvals (
  id text collate "C" primary key,
  command text not null,
  arguments jsonb, -- as typed; null: decided, or expired
  reason text not null check (char_length(reason) <= 500),
  asked_by text not null, -- the name of staff
  decided_by text check (decided_by <> asked_by),
  is_approved boolean,
  decided_at timestamptz,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '7 days',
  check ((decided_at is null) = (decided_by is null) and (decided_at is null) = (is_approved is null))
);
create index approvals_open on approvals (created_at) where decided_at is null;
