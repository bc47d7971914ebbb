-- The roles that the service's processes connect as. Run by a superuser in the service's database, which it hands to its
-- new owner; may be run again at any time. What each role may do with a table, `npm run migrate` grants (db/rights.ts).
-- Passwords are set apart from this.

do $$
declare
  wanted text;
begin
  foreach wanted in array array['goniec_owner', 'goniec_api', 'goniec_worker', 'goniec_admin', 'goniec_temporal'] loop
    if not exists (select from pg_roles where rolname = wanted) then
      execute format('create role %I login', wanted);
    end if;
    execute format('alter role %I nosuperuser nocreatedb nocreaterole noreplication nobypassrls', wanted);
    -- Errors name numbers and texts of customers. Whoever made the statement gets them, and logs them without those.
    execute format('alter role %I set log_min_messages = log', wanted);
    execute format('alter role %I set log_min_error_statement = panic', wanted);
    execute format('alter role %I set log_statement = none', wanted);
    execute format('alter role %I set log_min_duration_statement = -1', wanted);
    execute format('alter role %I set log_parameter_max_length_on_error = 0', wanted);
  end loop;
  execute format('alter database %I owner to goniec_owner', current_database());
  execute format('revoke connect, temporary on database %I from public', current_database());
  execute format('grant connect on database %I to goniec_api, goniec_worker, goniec_admin', current_database());
end $$;

-- It may see and end what these do.
grant goniec_api, goniec_worker, goniec_admin to goniec_owner;
