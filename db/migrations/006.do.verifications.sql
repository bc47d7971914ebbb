-- A code sent to a number. The code itself is nowhere: it follows from the id and the secrets key (`operations/verify/code.ts`).
create table verifications (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  msisdn text collate "C" not null, -- E.164 with plus; masked by erasure
  code_length smallint not null check (code_length between 4 and 8),
  guesses smallint not null default 0 check (guesses between 0 and 5),
  sent_at timestamptz[] not null, -- of each SMS with the code
  cost_grosze bigint not null check (cost_grosze >= 0), -- of all of them
  expires_at timestamptz not null,
  approved_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index verifications_of_number on verifications (account_id, msisdn, expires_at);
-- Not valid, to be quick: earlier events meet the stricter one before.
alter table webhook_events drop constraint webhook_events_subject_kind_check,
  add constraint webhook_events_subject_kind_check check (subject_kind in ('message', 'link', 'inbound', 'inbound_v1', 'email',
    'domain', 'verification')) not valid;
