-- Templates, contacts and groups.

create extension if not exists pg_trgm;
create extension if not exists unaccent;
create extension if not exists btree_gin;

create table templates (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  name text not null,
  type text not null check (type in ('sms', 'mms', 'vms')),
  body text not null,
  subject text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index templates_of_account on templates (account_id, id);

-- How names are compared and searched: without case and diacritics, so that "zolw" finds "Żółw".
create function search_form(value text) returns text language sql immutable strict parallel safe as
  $$ select lower(public.unaccent('public.unaccent', value) collate "und-x-icu") $$;

-- The pattern of LIKE that finds a fragment in what search_form made; `%`, `_` and `\` stand for themselves.
create function fragment_pattern(fragment text) returns text language sql immutable strict parallel safe as
  $$ select '%' || regexp_replace(search_form(fragment), '[\\%_]', '\\\&', 'g') || '%' $$;

create table contacts (
  id text collate "C" not null,
  account_id text collate "C" not null references accounts,
  msisdn text collate "C" not null,
  first_name text,
  last_name text,
  email text,
  fields jsonb not null default '{}', -- custom fields: text by key
  -- One line for each searchable column: a fragment cannot match across two of them.
  search text not null generated always as (
    msisdn || E'\n' || coalesce(search_form(first_name), '') || E'\n' || coalesce(search_form(last_name), '')
      || E'\n' || coalesce(search_form(email), '')) stored,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- The account comes first: a page is a stretch of this index, whatever other accounts have.
  primary key (account_id, id),
  unique (account_id, msisdn)
);
create index contacts_search on contacts using gin (account_id, search gin_trgm_ops);

create table contact_groups (
  id text collate "C" not null,
  account_id text collate "C" not null references accounts,
  name text not null,
  created_at timestamptz not null default now(),
  primary key (account_id, id)
);
create unique index contact_groups_name on contact_groups (account_id, lower(name collate "und-x-icu"));

-- The account is part of both keys: no membership can join two accounts.
create table group_members (
  account_id text collate "C" not null,
  group_id text collate "C" not null,
  contact_id text collate "C" not null,
  primary key (account_id, group_id, contact_id),
  foreign key (account_id, group_id) references contact_groups (account_id, id) on delete cascade,
  foreign key (account_id, contact_id) references contacts (account_id, id) on delete cascade
);
create index group_members_of_contact on group_members (account_id, contact_id);
