-- Who is invited to an account. A row is an open invitation; its link holds no secret, as only who signs in by the address accepts it.
create table invitations (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  address text collate "C" not null check (char_length(address) <= 254), -- as people have them
  role text not null check (role in ('owner', 'developer', 'billing', 'reader')),
  invited_by text collate "C" references people on delete set null,
  expires_at timestamptz not null default now() + interval '7 days',
  unique (account_id, address)
);
create index invitations_by_inviter on invitations (invited_by);
create index invitations_by_time on invitations (expires_at);

-- E-mails that people make the service send, for its limits. Rows are kept for a day.
create table requested_emails (
  id bigint generated always as identity primary key,
  address text collate "C" not null,
  asker text collate "C" not null, -- a network (of IPv6 the /64), or the account that invites
  at timestamptz not null default now()
);
create index requested_emails_to on requested_emails (address, at);
create index requested_emails_of on requested_emails (asker, at);
create index requested_emails_by_time on requested_emails (at);
drop index sign_ins_of_network;
create index sign_ins_with_account on sign_ins (network, created_at) where opened_account;

-- Changes of addresses: one for each person that waits for the new address, and those that the former one can undo.
create table address_changes (
  link_hash bytea primary key, -- SHA-256; of the link to the new address, then of the one to the former
  person_id text collate "C" not null references people on delete cascade,
  address text collate "C" not null check (char_length(address) <= 254), -- the new one; once confirmed, the former
  confirmed_at timestamptz, -- null: waits for the new address
  expires_at timestamptz not null
);
create unique index address_changes_waiting on address_changes (person_id) where confirmed_at is null;
create index address_changes_of_person on address_changes (person_id, confirmed_at);
create index address_changes_by_time on address_changes (expires_at);
