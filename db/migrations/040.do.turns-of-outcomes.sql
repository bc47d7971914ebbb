-- What decides an outcome's turn, in its own row: it is found by an index, however many wait.
alter table outcome_signals add column account_id text collate "C", add column priority boolean;

-- Whatever release writes one. Many at once are written with both.
create function place_outcome() returns trigger language plpgsql as $$
begin
  select account_id, priority into new.account_id, new.priority from messages where id = new.message_id;
  return new;
end $$;
create trigger outcome_signals_place before insert on outcome_signals
  for each row when (new.account_id is null or new.priority is null) execute function place_outcome();
