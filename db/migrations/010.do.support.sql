-- What support and customers look up: moves between routes, webhook deliveries made again, secrets that were replaced.

-- A move leaves no other trace; it is rare, so that its row costs a message nothing.
create table message_moves (
  id bigint generated always as identity primary key,
  message_id text collate "C" not null references messages,
  from_route text collate "C" not null,
  to_route text collate "C" not null,
  at timestamptz not null default now()
);
create index message_moves_message on message_moves (message_id);

-- Reports are appended in the order of their time: this finds those of some minutes, and costs next to nothing to keep.
create index delivery_reports_by_time on delivery_reports using brin (received_at) with (autosummarize = on);

-- Deliveries that somebody asked for again: the same event, further attempts. The event keeps its own state until one of
-- them is taken.
create table webhook_resends (
  event_id text collate "C" not null references webhook_events,
  round smallint not null check (round > 0),
  account_id text collate "C" not null references accounts,
  requested_by text not null check (requested_by in ('account', 'operator')),
  attempts_before smallint not null, -- logged until then
  state text not null default 'under way' check (state in ('under way', 'delivered', 'exhausted')),
  requested_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  primary key (event_id, round)
);
create index webhook_resends_under_way on webhook_resends (account_id, requested_at) where state = 'under way';

-- The events that nobody took. An index on the state of all events would make every delivery dearer.
create table webhook_exhausted (
  event_id text collate "C" primary key references webhook_events,
  account_id text collate "C" not null references accounts,
  at timestamptz not null default now()
);
create index webhook_exhausted_of_account on webhook_exhausted (account_id, event_id desc);
create function note_exhausted() returns trigger language plpgsql as $$
begin
  if new.state = 'exhausted' then
    insert into webhook_exhausted (event_id, account_id) values (new.id, new.account_id) on conflict do nothing;
  else
    delete from webhook_exhausted where event_id = new.id;
  end if;
  return null;
end $$;
create trigger webhook_events_exhausted after update of state on webhook_events
  for each row when (old.state is distinct from new.state and 'exhausted' in (old.state, new.state))
  execute function note_exhausted();
insert into webhook_exhausted (event_id, account_id, at)
select e.id, e.account_id, coalesce((select max(a.at) from webhook_attempts a where a.event_id = e.id), e.created_at)
  from webhook_events e where e.state = 'exhausted';

-- For a day after a change of the secret, receivers may know either.
alter table accounts
  add webhook_secret_before bytea, -- encrypted
  add webhook_secret_changed_at timestamptz,
  add webhook_secret_in_use boolean not null default true; -- false: the receiver takes the one before, as far as is known
