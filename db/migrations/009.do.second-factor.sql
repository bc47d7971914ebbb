-- Second factors of people, and what they have proved.
create table totp (
  person_id text collate "C" primary key references people on delete cascade,
  secret bytea not null, -- encrypted
  last_step bigint not null, -- of the last code: none is taken twice
  created_at timestamptz not null default now()
);

create table passkeys (
  id text collate "C" primary key check (char_length(id) <= 1400), -- made by the authenticator, in base64url
  person_id text collate "C" not null references people on delete cascade,
  label text not null check (char_length(label) between 1 and 100),
  public_key bytea not null, -- COSE
  counter bigint not null, -- of its signatures
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index passkeys_of_person on passkeys (person_id);

-- Deleted when they are used.
create table recovery_codes (
  code_hash bytea primary key, -- SHA-256 of 80 random bits
  person_id text collate "C" not null references people on delete cascade
);
create index recovery_codes_of_person on recovery_codes (person_id);

alter table people
  add column totp_guesses smallint not null default 0, -- since the last right one
  add column totp_guessed_at timestamptz;

alter table sessions
  drop constraint sessions_assurance_check,
  add constraint sessions_assurance_check check (assurance in ('address', 'two_factors')),
  add column confirmed_at timestamptz not null default now(), -- when the person last signed in or proved a factor
  add column challenge text, -- for a passkey, once
  add column challenge_expires_at timestamptz;
