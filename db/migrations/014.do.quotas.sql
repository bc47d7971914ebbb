-- What is refused leaves nothing behind, and what an account keeps has bounds.

-- Deletes messages that were never accepted, for roles that may delete no others.
create function delete_never_accepted(ids text[]) returns bigint language plpgsql security definer
  set search_path = pg_catalog, public, pg_temp as $$
declare
  deleted bigint;
begin
  delete from public.messages where id = any(ids) and status in ('draft', 'refused');
  get diagnostics deleted = row_count;
  return deleted;
end $$;

-- An opt-out link is made when the first message with it is accepted, whoever accepts it. Until then its token stands
-- with the draft. Two messages that are accepted at the same time may both bring one: then both lead to the same link.
alter table messages add opt_out_token text collate "C";
create table opt_out_aliases (
  token text collate "C" primary key,
  link text collate "C" not null references opt_out_links on delete cascade
);
create index opt_out_aliases_of_link on opt_out_aliases (link);
create function publish_opt_out() returns trigger language plpgsql as $$
begin
  -- Charges of one account take turns from here on, in whatever order they name their recipients.
  perform from accounts where id = new.account_id for no key update;
  insert into opt_out_links (token, account_id, msisdn, sender)
  values (new.opt_out_token, new.account_id, new.recipient, new.sender)
  on conflict (account_id, msisdn, sender) do nothing;
  if not found then
    insert into opt_out_aliases (token, link)
    select new.opt_out_token, token from opt_out_links
     where account_id = new.account_id and msisdn = new.recipient and sender = new.sender
       and token <> new.opt_out_token;
  end if;
  return null;
end $$;
create trigger messages_opt_out after update of status on messages
  for each row when (old.status = 'draft' and new.status in ('queued', 'scheduled') and new.opt_out_token is not null)
  execute function publish_opt_out();

-- Opt-out links of numbers that never got a message were made for sends that were refused. Where numbers were erased
-- from messages nobody can tell any more.
delete from opt_out_links o
 where o.created_at < now() - interval '1 day'
   and not exists (select from messages m where m.recipient = o.msisdn and m.account_id = o.account_id
                      and m.status not in ('draft', 'refused'))
   and not exists (select from messages m where m.account_id = o.account_id and m.erased_at is not null);

-- What the operator allows an account to keep, where it differs from the defaults: names and numbers.
alter table accounts add quotas jsonb not null default '{}' check (jsonb_typeof(quotas) = 'object');

-- How much an account keeps, counted in the statement that changes it, whoever makes it.
create table account_usage (
  account_id text collate "C" not null references accounts,
  kind text collate "C" not null,
  used bigint not null,
  primary key (account_id, kind)
) with (fillfactor = 50);

create function count_added() returns trigger language plpgsql as $$
begin
  insert into account_usage as u (account_id, kind, used)
  select account_id, tg_argv[0], count(*) from added group by account_id order by account_id
  on conflict (account_id, kind) do update set used = u.used + excluded.used;
  return null;
end $$;
create function count_removed() returns trigger language plpgsql as $$
begin
  insert into account_usage as u (account_id, kind, used)
  select account_id, tg_argv[0], -count(*) from removed group by account_id order by account_id
  on conflict (account_id, kind) do update set used = u.used + excluded.used;
  return null;
end $$;

-- Octets of what a contact says of a person.
create function contact_bytes(first_name text, last_name text, email text, fields jsonb) returns bigint
  language sql immutable parallel safe as $$
  select coalesce(octet_length(first_name), 0) + coalesce(octet_length(last_name), 0) + coalesce(octet_length(email), 0)
         + octet_length(fields::text) $$;
create function count_contact_bytes() returns trigger language plpgsql as $$
declare
  grown record;
begin
  for grown in execute
    case tg_op
      when 'INSERT' then 'select account_id, sum(contact_bytes(first_name, last_name, email, fields)) as bytes
                            from added group by account_id order by account_id'
      when 'DELETE' then 'select account_id, -sum(contact_bytes(first_name, last_name, email, fields)) as bytes
                            from removed group by account_id order by account_id'
      else 'select account_id, sum(bytes) as bytes
              from (select account_id, contact_bytes(first_name, last_name, email, fields) as bytes from added
                    union all
                    select account_id, -contact_bytes(first_name, last_name, email, fields) from removed) c
             group by account_id having sum(bytes) <> 0 order by account_id'
    end
  loop
    insert into account_usage as u (account_id, kind, used) values (grown.account_id, 'contact_bytes', grown.bytes)
    on conflict (account_id, kind) do update set used = u.used + excluded.used;
  end loop;
  return null;
end $$;

-- From here on whoever would write to these tables waits, so that what is there is counted once.
create trigger contacts_added after insert on contacts referencing new table as added
  for each statement execute function count_added('contacts');
create trigger contacts_removed after delete on contacts referencing old table as removed
  for each statement execute function count_removed('contacts');
create trigger contacts_bytes_added after insert on contacts referencing new table as added
  for each statement execute function count_contact_bytes();
create trigger contacts_bytes_changed after update on contacts referencing new table as added old table as removed
  for each statement execute function count_contact_bytes();
create trigger contacts_bytes_removed after delete on contacts referencing old table as removed
  for each statement execute function count_contact_bytes();
create trigger contact_groups_added after insert on contact_groups referencing new table as added
  for each statement execute function count_added('groups');
create trigger contact_groups_removed after delete on contact_groups referencing old table as removed
  for each statement execute function count_removed('groups');
create trigger group_members_added after insert on group_members referencing new table as added
  for each statement execute function count_added('memberships');
create trigger group_members_removed after delete on group_members referencing old table as removed
  for each statement execute function count_removed('memberships');
create trigger blacklist_added after insert on blacklist referencing new table as added
  for each statement execute function count_added('blacklist');
create trigger blacklist_removed after delete on blacklist referencing old table as removed
  for each statement execute function count_removed('blacklist');
create trigger tracked_links_added after insert on tracked_links referencing new table as added
  for each statement execute function count_added('links');
create trigger tracked_links_removed after delete on tracked_links referencing old table as removed
  for each statement execute function count_removed('links');

insert into account_usage (account_id, kind, used)
select account_id, 'contacts', count(*) from contacts group by account_id
union all
select account_id, 'contact_bytes', sum(contact_bytes(first_name, last_name, email, fields)) from contacts group by account_id
union all
select account_id, 'groups', count(*) from contact_groups group by account_id
union all
select account_id, 'memberships', count(*) from group_members group by account_id
union all
select account_id, 'blacklist', count(*) from blacklist group by account_id
union all
select account_id, 'links', count(*) from tracked_links group by account_id;

-- Entries whose end is over are deleted in time; look-ups that were never charged as well.
create index blacklist_over on blacklist (expires_at) where expires_at is not null and message_id is null;
create index number_lookups_refused on number_lookups (created_at) where state = 'refused';
