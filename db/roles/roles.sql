-- The database roles of the service's processes. Run by a superuser in the service's database, whose owner it changes; idempotent. Table
-- rights are granted by `npm run migrate` (db/rights.ts), passwords are set separately.

do $$
declare
  wanted text;
begin
  foreach wanted in array array['goniec_owner', 'goniec_api', 'goniec_worker', 'goniec_admin', 'goniec_temporal'] loop
    if not exists (select from pg_roles where rolname = wanted) then
      execute format('create role %I login', wanted);
    end if;
    execute format('alter role %I nosuperuser nocreatedb nocreaterole noreplication nobypassrls', wanted);
    -- Server logs would contain numbers and texts of customers. The client gets the error, and logs it without them.
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

-- Lets the owner see and terminate their sessions.
grant goniec_api, goniec_worker, goniec_admin to goniec_owner;
