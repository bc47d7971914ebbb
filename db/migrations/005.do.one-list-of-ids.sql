-- Each statement by itself.
-- `other_ids` holds what `alternative_id` did, in its order. Processes of earlier releases may still write that: the trigger and the column go
-- in a later release, when none is left. Locks the table for a moment (trigger, index), then only the rows that it changes.
create or replace function fold_alternative_id() returns trigger language plpgsql as $$
  begin new.other_ids := new.alternative_id || new.other_ids; new.alternative_id := null; return new; end $$;
create or replace trigger delivery_reports_one_list before insert on delivery_reports
  for each row when (new.alternative_id is not null) execute function fold_alternative_id();
-- Every answer to a submit looks for its id here, which would read the whole list of pending entries.
alter index delivery_reports_other_ids set (fastupdate = off);
update delivery_reports set other_ids = alternative_id || other_ids, alternative_id = null where alternative_id is not null;
