-- The blacklist, the personal opt-out links, and messages that are rejected after they were accepted.

create table blacklist (
  account_id text collate "C" not null references accounts,
  msisdn text collate "C" not null,
  reason text,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  primary key (account_id, msisdn)
);

-- One link for each recipient of a sender: the page names the sender, the token says nothing of the number.
create table opt_out_links (
  token text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  msisdn text collate "C" not null,
  sender text not null,
  created_at timestamptz not null default now(),
  unique (account_id, msisdn, sender)
);

create or replace function check_message_transition() returns trigger language plpgsql as $$
begin
  if (old.status, new.status) not in (
    ('draft', 'scheduled'), ('draft', 'queued'), ('draft', 'rejected'), ('draft', 'refused'),
    ('scheduled', 'queued'), ('scheduled', 'cancelled'),
    ('queued', 'sent'), ('queued', 'failed'), ('queued', 'expired'), ('queued', 'rejected'),
    ('sent', 'delivered'), ('sent', 'undelivered'), ('sent', 'failed'), ('sent', 'expired')
  ) then
    raise exception 'message % cannot move from % to %', old.id, old.status, new.status using errcode = 'GN409';
  end if;
  return new;
end $$;
