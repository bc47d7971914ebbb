-- Hands all tables, functions and types of the schema `public` to the owner of the database, where others made them: a
-- superuser did until 0.4.0. Run by a superuser in that database; may be run again at any time.

do $$
declare
  owner oid := (select datdba from pg_database where datname = current_database());
  step text;
begin
  for step in
    select format('alter %s %s owner to %I', kind, name, pg_get_userbyid(owner))
      from (
        -- Indexes and the sequences of columns follow their tables.
        select case relkind when 'v' then 'view' when 'm' then 'materialized view' else 'table' end as kind,
               c.oid::regclass::text as name, 'pg_class'::regclass as class, c.oid, relowner as owned_by
          from pg_class c
         where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm')
        union all
        select 'routine', p.oid::regprocedure::text, 'pg_proc'::regclass, p.oid, proowner
          from pg_proc p where pronamespace = 'public'::regnamespace
        union all
        select 'type', t.oid::regtype::text, 'pg_type'::regclass, t.oid, typowner
          from pg_type t
         where typnamespace = 'public'::regnamespace and typtype in ('e', 'd')
      ) found
     where owned_by <> owner
       and not exists (
         select from pg_depend d where d.classid = found.class and d.objid = found.oid and d.deptype = 'e'
       )
  loop
    execute step;
  end loop;
end $$;
