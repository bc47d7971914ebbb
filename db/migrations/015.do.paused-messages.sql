-- Accounts that may not send: messages of a suspended one wait for it, those of a closed one are cancelled and refunded.

create or replace function check_message_transition() returns trigger language plpgsql as $$
begin
  if (old.status, new.status) not in (
    ('draft', 'scheduled'), ('draft', 'queued'), ('draft', 'rejected'), ('draft', 'refused'),
    ('scheduled', 'queued'), ('scheduled', 'cancelled'), ('scheduled', 'expired'),
    ('queued', 'sent'), ('queued', 'failed'), ('queued', 'expired'), ('queued', 'rejected'), ('queued', 'cancelled'),
    ('sent', 'delivered'), ('sent', 'undelivered'), ('sent', 'failed'), ('sent', 'expired')
  ) then
    raise exception 'message % cannot move from % to %', old.id, old.status, new.status using errcode = 'GN409';
  end if;
  return new;
end $$;

-- Messages whose workflow waits for its account to be active again; deleted when the message goes on or ends. One that was
-- cancelled with its account stands here until its workflow knows.
create table paused_messages (
  message_id text collate "C" primary key references messages,
  account_id text collate "C" not null references accounts,
  paused_at timestamptz not null default now(),
  taken_until timestamptz, -- somebody is about to tell its workflow
  told_at timestamptz -- that it may go on; null: as soon as the account is not suspended any more
);
create index paused_messages_untold on paused_messages (account_id, message_id) where told_at is null;
create index paused_messages_told on paused_messages (account_id, told_at) where told_at is not null;

-- Accounts that were closed, until none of their messages is left to be cancelled.
create table account_closings (
  account_id text collate "C" primary key references accounts,
  closed_at timestamptz not null default now()
);
create function note_closing() returns trigger language plpgsql as $$
begin
  insert into account_closings (account_id) values (new.id) on conflict (account_id) do update set closed_at = now();
  return null;
end $$;
create trigger accounts_closing after update of status on accounts
  for each row when (old.status is distinct from new.status and new.status = 'closed') execute function note_closing();
insert into account_closings (account_id) select id from accounts where status = 'closed';
