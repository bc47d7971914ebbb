-- The schema. Money is whole grosze, net. Ids are compared bytewise, so that their order is that of their creation.
-- SQLSTATEs of our own: GN402 too little money, GN409 no such transition, GN423 the keyword rests, GN429 too many keywords rest.

create extension pg_trgm;
create extension unaccent;
create extension btree_gin;

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name;
end $$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Accounts

create table accounts (
  id text collate "C" primary key,
  name text not null,
  status text not null default 'active' check (status in ('active', 'suspended', 'closed')),
  mode text not null default 'test' check (mode in ('test', 'live')),
  -- Not migrated: the earlier interface shows its upstream's balance, and no history.
  legacy_proxy boolean not null default false,
  billing_mode text not null default 'prepaid' check (billing_mode in ('prepaid', 'postpaid')),
  -- What it was charged before then is paid, and in no statement. Null: always postpaid, or prepaid.
  postpaid_since timestamptz,
  balance_grosze bigint not null default 0,
  credit_limit_grosze bigint not null default 0 check (credit_limit_grosze >= 0),
  test_credits integer not null default 0 check (test_credits >= 0),
  price_per_part_grosze integer not null default 15 check (price_per_part_grosze >= 0),
  price_per_mms_grosze integer not null default 60 check (price_per_mms_grosze >= 0),
  price_per_vms_grosze integer not null default 40 check (price_per_vms_grosze >= 0),
  price_per_hlr_grosze integer not null default 5 check (price_per_hlr_grosze >= 0),
  country_rates jsonb not null default '{}',
  rate_limit_per_minute integer not null default 120 check (rate_limit_per_minute > 0),
  quotas jsonb not null default '{}' check (jsonb_typeof(quotas) = 'object'), -- where they differ from the usual ones
  -- How much a send through an assistant's tool may reach and cost before somebody has to agree; null: as the installation has it.
  tool_confirm_recipients integer check (tool_confirm_recipients >= 0),
  tool_confirm_grosze integer check (tool_confirm_grosze >= 0),
  sender_name text,
  send_window text,
  contact_email text, -- where its statements go; null: nowhere
  webhook_url text,
  webhook_secret bytea, -- encrypted
  webhook_secret_before bytea, -- encrypted; signs a second header for a day
  webhook_secret_changed_at timestamptz,
  legacy_webhook_url text, -- of the earlier interface
  legacy_webhook_secret bytea, -- encrypted
  inbound_number text,
  inbound_prefix text unique,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index accounts_inbound on accounts (inbound_number) where inbound_number is not null;
-- Few accounts have a former secret, and whether its day is over is asked every ten seconds.
create index accounts_former_secret on accounts (webhook_secret_changed_at) where webhook_secret_before is not null;

create table api_keys (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  hash bytea not null unique, -- SHA-256 of the whole key
  hint text not null,         -- prefix and last four characters, for people
  mode text not null check (mode in ('test', 'live')),
  scopes text[] not null check (scopes <@ array['send', 'read', 'manage']),
  -- What calls of tools with this key may charge in a Polish calendar day; null: whatever the balance covers.
  tool_budget_grosze bigint check (tool_budget_grosze >= 0),
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  revoked_at timestamptz
);
create index api_keys_account on api_keys (account_id);

-- Tokens of the earlier interface. Revoking is an instant, never a deletion.
create table api_tokens (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  hash bytea not null unique, -- SHA-256 of the whole token
  hint text not null,         -- prefix and last four characters, for people
  label text not null check (char_length(label) between 1 and 100),
  rate_limit_per_minute integer not null default 100 check (rate_limit_per_minute > 0),
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  revoked_at timestamptz
);
create index api_tokens_account on api_tokens (account_id);

create table senders (
  account_id text collate "C" not null references accounts,
  name text not null,
  active boolean not null default true,
  created_at timestamptz not null default now(),
  primary key (account_id, name)
);

create table verified_numbers (
  account_id text collate "C" not null references accounts,
  msisdn text collate "C" not null,
  verified_at timestamptz not null default now(),
  primary key (account_id, msisdn)
);

-- Losing this table in a crash costs nobody anything: it counts requests of the last minute.
create unlogged table rate_windows (
  account_id text collate "C" primary key,
  started_at timestamptz not null,
  used integer not null
);

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

-- ---------------------------------------------------------------------------------------------------------------------
-- Keywords of replies

-- Everyday words and numbers that staff let an account have as its keyword.
create table allowed_keywords (
  account_id text collate "C" not null references accounts,
  word text collate "C" not null,
  allowed_at timestamptz not null default now(),
  primary key (account_id, word)
);

-- A keyword that was given up rests for 30 days: until then only its former owner can have it.
create table resting_keywords (
  word text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  given_up_at timestamptz not null default now()
);
create index resting_keywords_of_account on resting_keywords (account_id);

-- A closed account receives nothing: its keyword is given up.
create function give_keyword_up() returns trigger language plpgsql as $$
begin
  new.inbound_prefix := null;
  return new;
end $$;
create trigger accounts_closed before update of status on accounts
  for each row when (new.status = 'closed' and new.inbound_prefix is not null) execute function give_keyword_up();

-- A keyword that changes begins to rest, and one that rests cannot be taken. This runs after the unique index, which lets
-- one account at a time hold a word, so that it sees what the holder before has left. Whoever takes one word after the
-- other could keep them all from everybody: five of an account may rest when it takes another.
create function keep_keywords() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.inbound_prefix is not null then
    delete from resting_keywords where account_id = new.id and given_up_at <= now() - interval '30 days';
    insert into resting_keywords (word, account_id) values (old.inbound_prefix, new.id)
    on conflict (word) do update set account_id = excluded.account_id, given_up_at = excluded.given_up_at;
  end if;
  if new.inbound_prefix is not null then
    delete from resting_keywords
     where word = new.inbound_prefix and (account_id = new.id or given_up_at <= now() - interval '30 days');
    if exists (select from resting_keywords where word = new.inbound_prefix) then
      raise exception using errcode = 'GN423', message = 'the keyword rests';
    end if;
    if (select count(*) from resting_keywords
         where account_id = new.id and given_up_at > now() - interval '30 days') > 5 then
      raise exception using errcode = 'GN429', message = 'too many keywords of the account rest';
    end if;
  end if;
  return null;
end $$;
create trigger accounts_keyword_taken after insert on accounts
  for each row when (new.inbound_prefix is not null) execute function keep_keywords();
create trigger accounts_keyword_changed after update on accounts
  for each row when (old.inbound_prefix is distinct from new.inbound_prefix) execute function keep_keywords();

-- ---------------------------------------------------------------------------------------------------------------------
-- Money

-- Every movement of an account's money. An entry names its subject, so that a product needs no column of its own. In place of a
-- foreign key, post_ledger_entries asks for the subject of a charge, refund or payment, and keep_subject keeps it from being deleted.
create table ledger_entries (
  id bigint generated always as identity primary key,
  account_id text collate "C" not null references accounts,
  kind text not null check (kind in ('opening', 'topup', 'charge', 'refund', 'adjustment', 'payment')),
  amount_grosze bigint not null,
  test_credits integer not null default 0,
  subject_kind text check (subject_kind in ('message', 'lookup', 'statement', 'email')),
  subject_id text collate "C",
  reference text collate "C" check (reference <> ''), -- of a payment, as the payer or the bank names it
  note text,
  created_at timestamptz not null default now(),
  check ((subject_kind is null) = (subject_id is null)),
  check (kind not in ('charge', 'refund') or subject_id is not null),
  -- A payment pays a statement, all of it, and nothing else is booked about one.
  check ((kind = 'payment') = (subject_kind is not distinct from 'statement'))
);
-- One charge and one refund of each message, look-up or e-mail, one payment of each statement, whoever books them and however often.
create unique index ledger_once_per_subject on ledger_entries (subject_id, kind) where subject_id is not null;
-- A payment that is booked again is booked once.
create unique index ledger_once_per_payment on ledger_entries (account_id, reference) where reference is not null;
-- With what is summed up to be compared with the balance.
create index ledger_of_account on ledger_entries (account_id, id) include (amount_grosze, test_credits);
create index ledger_lookups on ledger_entries (account_id, created_at) where subject_kind = 'lookup';
-- What a month's statement sums is found however long the account's ledger is.
create index ledger_sums on ledger_entries (account_id, created_at) where kind in ('charge', 'refund');
create trigger ledger_append_only before update or delete or truncate on ledger_entries
  for each statement execute function refuse_change();

-- The balance moves here and nowhere else, in the statement that writes the entries. Without sequential scans: a connection keeps the
-- plan that it made while the tables were small, and reading them from end to end for each entry takes seconds for a large request.
create function post_ledger_entries() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  if exists (
    select from posted p
     where p.kind in ('charge', 'refund', 'payment') and not exists (
       select from messages m where p.subject_kind = 'message' and m.id = p.subject_id and m.account_id = p.account_id
       union all
       select from number_lookups l where p.subject_kind = 'lookup' and l.id = p.subject_id and l.account_id = p.account_id
       union all
       select from emails e where p.subject_kind = 'email' and e.id = p.subject_id and e.account_id = p.account_id
       union all
       select from statements s where p.subject_kind = 'statement' and s.id = p.subject_id and s.account_id = p.account_id
          and s.amount_grosze = p.amount_grosze)
  ) then
    raise exception 'a charge, refund or payment has no such subject of its account' using errcode = 'foreign_key_violation';
  end if;
  update accounts a
     set balance_grosze = a.balance_grosze + s.amount, test_credits = a.test_credits + s.credits
    from (select account_id, sum(amount_grosze) as amount, sum(test_credits) as credits
            from posted group by account_id order by account_id) s
   where a.id = s.account_id;
  if exists (
    select from accounts a
      join (select account_id, sum(amount_grosze) as amount from posted where kind = 'charge' group by account_id) s
        on s.account_id = a.id
     where s.amount < 0
       and a.balance_grosze < case when a.billing_mode = 'postpaid' then -a.credit_limit_grosze else 0 end
  ) then
    raise exception 'balance too low' using errcode = 'GN402';
  end if;
  return null;
exception when check_violation then
  raise exception 'test credits used up' using errcode = 'GN402';
end $$;
create trigger ledger_post after insert on ledger_entries referencing new table as posted
  for each statement execute function post_ledger_entries();

create function guard_balance() returns trigger language plpgsql as $$
begin
  if pg_trigger_depth() < 2 then
    raise exception 'the balance of an account moves by ledger entries only';
  end if;
  return new;
end $$;
create trigger accounts_balance_guard before update of balance_grosze, test_credits on accounts
  for each row when (old.balance_grosze is distinct from new.balance_grosze or old.test_credits is distinct from new.test_credits)
  execute function guard_balance();
create function guard_opening_balance() returns trigger language plpgsql as $$
begin
  raise exception 'a new account starts at zero; its opening balance is a ledger entry';
end $$;
create trigger accounts_opening_guard before insert on accounts
  for each row when (new.balance_grosze <> 0 or new.test_credits <> 0) execute function guard_opening_balance();

create function keep_subject() returns trigger language plpgsql as $$
begin
  if exists (select from ledger_entries where subject_id = old.id) then
    raise exception '% has entries in the ledger', old.id using errcode = 'foreign_key_violation';
  end if;
  return old;
end $$;

-- Monthly statements of postpaid accounts; an unpaid one past its due time stops sends.
create table statements (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  month date not null check (extract(day from month) = 1),
  amount_grosze bigint not null,
  issued_at timestamptz not null default now(),
  due_at timestamptz not null,
  paid_at timestamptz,
  unique (account_id, month)
);
create index statements_unpaid on statements (account_id, due_at) where paid_at is null;
create trigger statements_kept before delete on statements for each row execute function keep_subject();

-- What was accepted and no workflow has taken up: it is charged, its cost reserved. A worker starts its workflow, whose first step settles
-- this; so a row here is exactly what is still to be started. The workflow of a look-up, whose caller waits, is started by the API in
-- the first place. What costs nothing stands here too: replies, further deliveries of webhook events, and events that no workflow of their
-- subject delivers: of the first click of a link, of a sender domain, of a message that staff have settled.
create table reservations (
  subject_id text collate "C" primary key,
  kind text not null check (kind in ('message', 'email', 'lookup', 'reply', 'event', 'resend')),
  account_id text collate "C" not null, -- whose turn it is; '' of a reply, which is nobody's yet
  priority boolean not null,
  reserved_at timestamptz not null default now(),
  start_after timestamptz not null default now(), -- while a worker starts it, the others leave it alone
  trace text -- the `traceparent` of the request that it came with (W3C Trace Context); null where that is not traced
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
create index reservations_in_turn on reservations (account_id, priority desc, subject_id);

-- What calls of tools have charged of keys with a budget.
create table tool_spending (
  key_id text collate "C" not null references api_keys,
  day date not null, -- in Poland
  grosze bigint not null check (grosze >= 0),
  primary key (key_id, day)
) with (fillfactor = 50);
create index tool_spending_days on tool_spending (day);

-- ---------------------------------------------------------------------------------------------------------------------
-- Address book and templates

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
create trigger contacts_added after insert on contacts referencing new table as added
  for each statement execute function count_added('contacts');
create trigger contacts_removed after delete on contacts referencing old table as removed
  for each statement execute function count_removed('contacts');

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
create trigger contacts_bytes_added after insert on contacts referencing new table as added
  for each statement execute function count_contact_bytes();
create trigger contacts_bytes_changed after update on contacts referencing new table as added old table as removed
  for each statement execute function count_contact_bytes();
create trigger contacts_bytes_removed after delete on contacts referencing old table as removed
  for each statement execute function count_contact_bytes();

create table contact_groups (
  id text collate "C" not null,
  account_id text collate "C" not null references accounts,
  name text not null,
  created_at timestamptz not null default now(),
  primary key (account_id, id)
);
create unique index contact_groups_name on contact_groups (account_id, lower(name collate "und-x-icu"));
create trigger contact_groups_added after insert on contact_groups referencing new table as added
  for each statement execute function count_added('groups');
create trigger contact_groups_removed after delete on contact_groups referencing old table as removed
  for each statement execute function count_removed('groups');

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
create trigger group_members_added after insert on group_members referencing new table as added
  for each statement execute function count_added('memberships');
create trigger group_members_removed after delete on group_members referencing old table as removed
  for each statement execute function count_removed('memberships');

-- ---------------------------------------------------------------------------------------------------------------------
-- Routes

create table routes (
  name text collate "C" primary key check (name ~ '^[a-z][a-z0-9-]{0,30}$'),
  kind text not null,
  -- draining: gets no new messages, sends those it has; disabled: sends nothing
  state text not null default 'active' check (state in ('active', 'draining', 'disabled')),
  settings jsonb not null default '{}',
  credentials bytea, -- encrypted
  rate_per_second integer check (rate_per_second > 0), -- parts; null: no limit of the network operator's
  broken_after_s integer not null default 10 check (broken_after_s > 0), -- without a session
  revision integer not null default 1, -- raised by every change, so that running sessions notice
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- What a route is used for; an absent condition admits everything.
create table route_rules (
  id bigint generated always as identity primary key,
  route text collate "C" not null references routes,
  prefix text collate "C" not null default '' check (prefix ~ '^[0-9]{0,15}$'),
  account_id text collate "C" references accounts,
  type text check (type in ('sms', 'mms', 'vms', 'hlr', 'email')),
  priority boolean,
  weight integer not null default 100 check (weight between 1 and 1000000),
  unique nulls not distinct (route, prefix, account_id, type, priority)
);

-- All traffic goes to the simulated network until staff add a route.
insert into routes (name, kind) values ('simulator', 'simulator');
insert into route_rules (route) values ('simulator');

-- What is seen of a route while it runs. Lost in a crash of the database, all of it comes anew within a second.
create unlogged table route_states (
  route text collate "C" primary key,
  working_at timestamptz,  -- when messages last got through, as far as is known
  submitting_since timestamptz, -- when the provider was first seen to take parts or e-mails: from then on reports are awaited
  next_slot_at timestamptz, -- when the next part may leave, by its rate
  reported_at timestamptz,
  replied_at timestamptz
);
create unlogged table route_workers (
  route text collate "C" not null,
  worker text not null,
  seen_at timestamptz not null,
  sessions smallint not null,        -- open
  sessions_wanted smallint not null,
  window_size integer not null,      -- submits that may be open at once
  in_flight integer not null,
  submitted bigint not null,         -- parts taken by the SMSC since the worker's start
  throttled bigint not null,
  refused bigint not null,
  unanswered bigint not null,
  held bigint not null,              -- to come later, or not taken for a reason that lies in the route
  failures bigint not null,          -- connections and binds that failed or were lost
  last_error text,
  last_error_at timestamptz,
  primary key (route, worker)
);

-- ---------------------------------------------------------------------------------------------------------------------
-- Messages

create table messages (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  request_id text collate "C" not null,
  batched boolean not null default false,
  interface text not null default 'v2' check (interface in ('v1', 'v2')), -- which one sent it
  channel text not null default 'sms' check (channel in ('sms', 'mms', 'vms')),
  status text not null check (status in ('scheduled', 'queued', 'sent', 'delivered', 'undelivered', 'failed', 'rejected',
    'expired', 'cancelled')),
  accepted_as text not null check (accepted_as in ('scheduled', 'queued', 'rejected')),
  submission text not null default 'waiting' check (submission in ('waiting', 'submitting', 'answered', 'unanswered')),
  recipient text collate "C" not null,
  country text, -- ISO 3166-1 alpha-2; null where the number belongs to none
  sender text,
  text text not null,
  content jsonb, -- what the channel has beside the text; null: nothing
  parts smallint not null check (parts > 0),
  -- How it was counted and cut when it was accepted, as its channel writes it: so it is submitted, whatever a later release
  -- would make of it.
  cut text,
  cost_grosze bigint not null check (cost_grosze >= 0),
  test_credits smallint not null default 0 check (test_credits >= 0),
  priority boolean not null default false,
  reference text,
  idx text check (char_length(idx) between 1 and 255), -- the caller's identifier in the earlier interface
  send_at timestamptz,              -- as shown: null for a message sent at once
  expires_at timestamptz,           -- as asked for
  give_up_at timestamptz not null,  -- when the wait for a delivery report ends
  route text not null,
  concat_reference integer, -- joins the parts of a long message; taken at its first submit, kept for all tries
  opt_out_token text collate "C", -- its link is made when the message is accepted
  -- Its place in the history of the earlier interface: the second in which it was taken up for sending × 10^6, plus a number
  -- that no other message of that second has. Null: it waits for its send time, or was never taken up.
  sent_key bigint,
  error_code text,
  delivered_at timestamptz,
  erased_at timestamptz, -- when text and number were taken out; null: they are there
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index messages_history on messages (account_id, id desc);
create index messages_history_by_status on messages (account_id, status, id desc);
create index messages_history_by_reference on messages (account_id, reference, id desc)
  where reference is not null;
-- Who wrote last to a number is asked across accounts; the history of one account by number is served as well.
create index messages_by_recipient on messages (recipient, account_id, id desc);
create index messages_request on messages (request_id, id);
create index messages_unanswered on messages (created_at) where submission = 'unanswered';
-- All that a report reads of a message: its period is one stretch of this index, in the order of message_effects, and the
-- table of the messages is left alone.
create index messages_reports on messages (account_id, created_at, id)
  include (cost_grosze, delivered_at, send_at, parts, test_credits, status, channel, sender, country, reference);
-- How many wait for a route, and of how many nobody knows whether it has them, is counted without reading any.
create index messages_queued on messages (route, submission) where status = 'queued';
-- Shows in some kilobytes that a route was never used. A tree of the routes would be as large as that of the ids.
create index messages_route on messages
  using brin (route text_bloom_ops (n_distinct_per_range = 16, false_positive_rate = 0.001)) with (autosummarize = on);
-- Whether a submit to a phone may still be answered is seen in what is under way to it, however many messages it got.
create index messages_submitting on messages (recipient) where submission in ('submitting', 'unanswered');
-- An account's last message to a number that may be answered, as is_answerable has it, however many others have written there. What
-- costs nothing (rejected, cancelled) is left out: a number may have any number of those.
create index messages_answerable_of_account
  on messages (recipient, account_id, (coalesce(send_at, created_at)) desc, id desc)
  where status in ('queued', 'sent', 'delivered', 'undelivered', 'expired')
    and not (status in ('queued', 'expired') and submission = 'waiting');

-- The transitions of domain/statuses.ts; a test compares the two.
create function check_message_transition() returns trigger language plpgsql as $$
begin
  if (old.status, new.status) not in (
    ('scheduled', 'queued'), ('scheduled', 'cancelled'), ('scheduled', 'expired'),
    ('queued', 'sent'), ('queued', 'failed'), ('queued', 'expired'), ('queued', 'rejected'), ('queued', 'cancelled'),
    ('sent', 'delivered'), ('sent', 'undelivered'), ('sent', 'failed'), ('sent', 'expired')
  ) then
    raise exception 'message % cannot move from % to %', old.id, old.status, new.status using errcode = 'GN409';
  end if;
  return new;
end $$;
create trigger messages_transition before update of status on messages
  for each row when (old.status is distinct from new.status) execute function check_message_transition();

-- What the ledger names is kept.
create trigger messages_kept before delete on messages for each row execute function keep_subject();
-- What the history of the earlier interface tells apart, see domain/earlierStatus.ts; a test compares the two.
create function history_class(status text, error_code text, submission text) returns text
  language sql immutable parallel safe as $$
  select case when status = 'failed' and error_code is distinct from 'rejected_on_report' then 'failed_unsent'
              when status = 'expired' and submission = 'waiting' then 'expired_unsent'
              else status end
$$;
-- It can be asked for some of these: of several the indexed stretches are merged.
create index messages_by_sent_key on messages (account_id, history_class(status, error_code, submission), sent_key desc)
  where sent_key is not null;

-- Two messages get the same number only when a million others were taken up in between, and that takes longer than a second.
create sequence sent_numbers minvalue 0 maxvalue 999999 start 0 cycle cache 1;
-- With the rights of its owner: no role is given any to the sequence.
create function take_sent_key() returns trigger language plpgsql security definer
  set search_path = pg_catalog, public, pg_temp as $$
begin
  new.sent_key := floor(extract(epoch from clock_timestamp()))::bigint * 1000000 + nextval('public.sent_numbers');
  return new;
end $$;
-- A scheduled message that is cancelled, or expires while it waits, was never taken up.
create trigger messages_sent_key_at_once before insert on messages
  for each row when (new.status <> 'scheduled' and new.sent_key is null) execute function take_sent_key();
create trigger messages_sent_key before update of status on messages
  for each row when (old.status = 'scheduled' and new.status = 'queued') execute function take_sent_key();

-- One submit to the provider. `submitting` is written before the submit leaves: found again after a crash it means
-- that nobody knows whether the provider has it, and it is not submitted again.
create table message_parts (
  message_id text collate "C" not null references messages,
  part smallint not null,
  state text not null check (state in ('submitting', 'held', 'accepted', 'refused', 'unanswered')),
  tries integer not null default 1,
  route text not null,
  provider_message_id text collate "C",
  submitted_at timestamptz not null default now(),
  answered_at timestamptz,
  answer_code text, -- what the provider said, where it did not take the part
  resubmitted_at timestamptz, -- by staff, while nobody knew whether the provider has it
  report_state text,
  reported_at timestamptz,
  primary key (message_id, part)
);
create index message_parts_provider_id on message_parts (route, provider_message_id) where provider_message_id is not null;
create index message_parts_unanswered on message_parts (route, submitted_at) where state = 'unanswered';
-- What waits to be submitted again, and the SMSC may have of the submit before: its delivery reports are looked for.
create index message_parts_resubmitted on message_parts (route, submitted_at)
  where state = 'held' and resubmitted_at is not null;
create index message_parts_route on message_parts
  using brin (route text_bloom_ops (n_distinct_per_range = 16, false_positive_rate = 0.001)) with (autosummarize = on);

-- The number that joins the parts of the next long message to a recipient.
create table concat_references (
  recipient text collate "C" primary key,
  last integer not null,
  used_at timestamptz not null default now()
);

-- A move between routes leaves no other trace; it is rare, so that its row costs a message nothing.
create table message_moves (
  id bigint generated always as identity primary key,
  message_id text collate "C" not null references messages,
  from_route text collate "C" not null,
  to_route text collate "C" not null,
  at timestamptz not null default now()
);
create index message_moves_message on message_moves (message_id);

-- Messages whose workflow waits for its account to be active again; deleted when the message goes on or ends. One that was
-- cancelled with its account stands here until its workflow knows.
create table paused_messages (
  message_id text collate "C" primary key references messages,
  account_id text collate "C" not null references accounts,
  paused_at timestamptz not null default now(),
  taken_until timestamptz, -- somebody is about to signal its workflow
  resumed_at timestamptz -- when its workflow was signalled; null: as soon as the account is not suspended any more
);
create index paused_messages_waiting on paused_messages (account_id, message_id) where resumed_at is null;
create index paused_messages_resumed on paused_messages (account_id, resumed_at) where resumed_at is not null;

-- Outcomes that a workflow does not know yet; written with the outcome, deleted once signalled.
create table outcome_signals (
  id bigint generated always as identity primary key,
  message_id text collate "C" not null references messages,
  account_id text collate "C", -- with the priority, what decides its turn
  priority boolean,
  status text not null,
  event_ids text[] not null,
  created_at timestamptz not null default now(),
  due_at timestamptz not null default now() -- while a worker brings it to its workflow, the others leave it alone; brought twice it does no harm
);
create index outcome_signals_of_message on outcome_signals (message_id);
-- Whose turn it is, however many wait. Also those that a worker has taken: they are few, and come again where it has died.
create index outcome_signals_next on outcome_signals (account_id, priority desc, id);

create function place_outcome() returns trigger language plpgsql as $$
begin
  select account_id, priority into new.account_id, new.priority from messages where id = new.message_id;
  return new;
end $$;
create trigger outcome_signals_place before insert on outcome_signals
  for each row execute function place_outcome();

create table idempotency_keys (
  account_id text collate "C" not null references accounts,
  key text collate "C" not null,
  fingerprint bytea not null, -- keyed hash of method, path and body
  request_id text collate "C" not null, -- each item of a request may have a key of its own
  accepted_body jsonb not null, -- the answer that was given
  created_at timestamptz not null default now(),
  primary key (account_id, key)
);
create index idempotency_keys_request on idempotency_keys (request_id);

-- ---------------------------------------------------------------------------------------------------------------------
-- Delivery reports

-- What providers reported, kept as it came; applied_at is null until it met its part.
create table delivery_reports (
  id bigint generated always as identity primary key,
  route text not null,
  provider_message_id text collate "C" not null,
  alternative_id text collate "C", -- the id read in the other way the route's rule allows
  message_id text collate "C", -- where the provider returned our reference; as it came, so no foreign key
  part smallint,
  phone text collate "C", -- E.164 with plus: whom it speaks of
  state text not null,
  error_code text,
  details text, -- the report as it came, without the message's text
  received_at timestamptz not null default now(),
  applied_at timestamptz,
  look_at timestamptz default now() -- when to look for its part again; null: applied, or left to staff
);
create index delivery_reports_unapplied on delivery_reports (route, provider_message_id) where applied_at is null;
-- What met no message is deleted early.
create index delivery_reports_unmatched on delivery_reports (received_at) where applied_at is null;
create index delivery_reports_due on delivery_reports (look_at, id) where look_at is not null;
create index delivery_reports_by_phone on delivery_reports (route, phone, id) where look_at is not null;
create index delivery_reports_alternative on delivery_reports (route, alternative_id)
  where look_at is not null and alternative_id is not null;
-- Reports are appended in the order of their time: this finds those of some minutes, and costs next to nothing to keep.
create index delivery_reports_by_time on delivery_reports using brin (received_at) with (autosummarize = on);
create index delivery_reports_route on delivery_reports
  using brin (route text_bloom_ops (n_distinct_per_range = 16, false_positive_rate = 0.001)) with (autosummarize = on);
-- What an erasure clears is found however many reports there are: those that met a part by its id or by its other form, those that
-- carried our reference, and those that name a phone.
create index delivery_reports_applied on delivery_reports (route, provider_message_id) where applied_at is not null;
create index delivery_reports_applied_alternative on delivery_reports (route, alternative_id)
  where applied_at is not null and alternative_id is not null;
create index delivery_reports_of_message on delivery_reports (message_id)
  where applied_at is not null and message_id is not null;
create index delivery_reports_of_phone on delivery_reports (phone) where phone is not null;

-- ---------------------------------------------------------------------------------------------------------------------
-- Look-ups

-- Each is charged once, like a message.
create table number_lookups (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  msisdn text collate "C" not null,
  route text not null,
  -- charged: the provider is being asked, or is to be; failed: refunded
  state text not null default 'charged' check (state in ('charged', 'done', 'failed')),
  reason text, -- why it failed
  cost_grosze integer not null check (cost_grosze >= 0),
  -- Where its cost counts in tool_spending, to be given back with the refund; null: nowhere.
  tool_key_id text collate "C" references api_keys,
  tool_day date,
  status text check (status in ('active', 'inactive', 'invalid', 'unknown')),
  network text,
  mcc text,
  mnc text,
  ported boolean,
  created_at timestamptz not null default now(),
  checked_at timestamptz,
  check ((tool_key_id is null) = (tool_day is null)),
  check ((state = 'done') = (status is not null and checked_at is not null))
);
-- Two look-ups of one number at the same time are one.
create unique index number_lookups_in_progress on number_lookups (account_id, msisdn) where state = 'charged';
create index number_lookups_known on number_lookups (account_id, msisdn, checked_at desc) where state = 'done';
-- An erasure takes all look-ups of a person, whatever became of them.
create index number_lookups_of_number on number_lookups (msisdn);
create trigger number_lookups_kept before delete on number_lookups for each row execute function keep_subject();

-- Callbacks of HTTP providers that answer a look-up some time after it was asked.
create table lookup_answers (
  route text collate "C" not null,
  provider_id text collate "C" not null,
  answer jsonb not null,
  received_at timestamptz not null default now(),
  primary key (route, provider_id)
);

-- ---------------------------------------------------------------------------------------------------------------------
-- Blacklist and opt-out links

create table blacklist (
  account_id text collate "C" not null references accounts,
  msisdn text collate "C" not null,
  reason text,
  message_id text collate "C" references messages, -- of an opt-out: the message that it belongs to
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  primary key (account_id, msisdn)
);
create index blacklist_of_message on blacklist (message_id) where message_id is not null;
-- Entries whose end is over are deleted in time.
create index blacklist_over on blacklist (expires_at) where expires_at is not null and message_id is null;
create trigger blacklist_added after insert on blacklist referencing new table as added
  for each statement execute function count_added('blacklist');
create trigger blacklist_removed after delete on blacklist referencing old table as removed
  for each statement execute function count_removed('blacklist');

-- An opt-out on the page belongs to the last message to the number by its send time that may be answered, as is_answerable has it: what
-- never came made nobody opt out. That is found once, when the number is listed.
create function message_before(entry blacklist) returns text language sql stable as $$
  select m.id from messages m
   where m.account_id = entry.account_id and m.recipient = entry.msisdn
     and m.status in ('queued', 'sent', 'delivered', 'undelivered', 'expired')
     and not (m.status in ('queued', 'expired') and m.submission = 'waiting')
     and coalesce(m.send_at, m.created_at) <= entry.created_at
   order by coalesce(m.send_at, m.created_at) desc, m.id desc limit 1
$$;
create function attribute_opt_out() returns trigger language plpgsql as $$
begin
  if new.reason is distinct from 'opt_out' then
    new.message_id := null;
  elsif tg_op = 'INSERT' or (old.reason, old.created_at) is distinct from (new.reason, new.created_at) then
    new.message_id := message_before(new);
  end if;
  return new;
end $$;
create trigger blacklist_attribution before insert or update on blacklist
  for each row execute function attribute_opt_out();

-- One link for each recipient of a sender: the page names the sender, the token says nothing of the number.
create table opt_out_links (
  token text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  msisdn text collate "C" not null,
  sender text not null,
  created_at timestamptz not null default now(),
  unique (account_id, msisdn, sender)
);

-- A link is made when the first message with it is accepted.
-- Two messages that are accepted at the same time may both bring one: then both lead to the same link.
create table opt_out_aliases (
  token text collate "C" primary key,
  link text collate "C" not null references opt_out_links on delete cascade
);
create index opt_out_aliases_of_link on opt_out_aliases (link);
create function publish_opt_out() returns trigger language plpgsql as $$
begin
  -- Acceptances of one account take turns from here on, in whatever order they name their recipients.
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
create trigger messages_opt_out after insert on messages
  for each row when (new.opt_out_token is not null) execute function publish_opt_out();

-- ---------------------------------------------------------------------------------------------------------------------
-- Tracked links and clicks

create table tracked_links (
  id bigint generated always as identity primary key,
  token text collate "C" not null unique,
  account_id text collate "C" not null references accounts,
  recipient text collate "C", -- forgotten when that person is erased; the link leads on
  url text not null,
  clicks integer not null default 0,
  first_click_at timestamptz,
  last_click_at timestamptz,
  created_at timestamptz not null default now(),
  unique (account_id, recipient, url)
);
create index tracked_links_of_account on tracked_links (account_id, id desc);
create index tracked_links_clicked on tracked_links (account_id, id desc) where clicks > 0;
create trigger tracked_links_added after insert on tracked_links referencing new table as added
  for each statement execute function count_added('links');
create trigger tracked_links_removed after delete on tracked_links referencing old table as removed
  for each statement execute function count_removed('links');

-- Which messages carry a link; written with them.
create table message_links (
  message_id text collate "C" not null references messages,
  token text collate "C" not null references tracked_links (token),
  -- The message's send time, as long as some network was given it, or may have been, so that somebody may have clicked; else null.
  -- Beside the link, so that a click's message is found by reading one row, however many messages carried it.
  answerable_at timestamptz,
  primary key (message_id, token)
);
create index message_links_of_token on message_links (token, message_id desc);
create index message_links_answerable on message_links (token, answerable_at desc, message_id desc)
  where answerable_at is not null;

-- What waits to be submitted was given to no network, for however long. As in messages_answerable_of_account and message_before, which
-- repeat the condition so that an index fits it.
create function is_answerable(status text, submission text) returns boolean language sql immutable parallel safe as $$
  select status in ('queued', 'sent', 'delivered', 'undelivered', 'expired')
     and not (status in ('queued', 'expired') and submission = 'waiting')
$$;

-- Only rows of the message's own are written, so that messages with one link never wait for each other. Links are written
-- with their messages, none of which has left then.
create function note_answerable() returns trigger language plpgsql as $$
begin
  update message_links
     set answerable_at = case when is_answerable(new.status, new.submission) then coalesce(new.send_at, new.created_at) end
   where message_id = new.id;
  return null;
end $$;
create trigger messages_answerable_links after update of status, submission on messages
  for each row when (is_answerable(old.status, old.submission) <> is_answerable(new.status, new.submission))
  execute function note_answerable();

-- The latest 50 clicks of each link: a later one takes the place of the oldest. Counted they all are, in tracked_links and message_effects.
-- The message has no foreign key: a click must not wait for whoever has it locked.
create table link_clicks (
  token text collate "C" not null references tracked_links (token),
  place smallint not null check (place between 0 and 49), -- its number among the link's clicks, modulo 50
  message_id text collate "C", -- the message that it belongs to
  clicked_at timestamptz not null,
  user_agent text,
  ip_hash bytea, -- keyed hash of the shortened address
  robot boolean not null,
  primary key (token, place)
);
create index link_clicks_to_erase on link_clicks (clicked_at) where user_agent is not null or ip_hash is not null;

-- A click belongs to the last message that carried the link, by its send time, of those that are answerable: one that was cancelled,
-- rejected, failed or expired before its submit has brought nobody to its link.
create function message_of_click(link text, clicked timestamptz) returns text language sql stable as $$
  select message_id from message_links
   where token = link and answerable_at <= clicked
   order by answerable_at desc, message_id desc limit 1
$$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Replies

create table inbound_messages (
  id text collate "C" primary key,
  route text not null,
  provider_reference text collate "C" not null, -- the provider's own id: handed over twice, it is stored once
  sender text collate "C" not null,
  receiver text collate "C",
  received_text text not null, -- as it came
  state text not null default 'received' check (state in ('received', 'matched', 'unmatched')),
  account_id text collate "C" references accounts,
  text text, -- without the keyword
  matched_by text check (matched_by in ('prefix', 'last_message')),
  reply_to text collate "C" references messages,
  opt_out boolean not null default false,
  erased_at timestamptz,
  received_at timestamptz not null default clock_timestamp(),
  read_at timestamptz,
  unique (route, provider_reference),
  check ((state = 'matched') = (account_id is not null and text is not null and matched_by is not null))
);
create index inbound_messages_received on inbound_messages (received_at) where state = 'received';
create index inbound_messages_reply_to on inbound_messages (reply_to) where reply_to is not null;
-- An account is shown the replies that a rule gives it; of those that only its number got there may be any number.
create index inbound_messages_matched on inbound_messages (account_id, id desc) where state = 'matched';
create index inbound_messages_matched_unread on inbound_messages (account_id, id desc)
  where state = 'matched' and read_at is null;
-- Of all states, as an erasure finds a person's replies by it whatever became of them.
create index inbound_messages_of_sender on inbound_messages (account_id, sender, state, id desc);
-- What staff are shown: replies that belong to no account.
create index inbound_messages_of_nobody on inbound_messages (id desc) where state = 'unmatched' and account_id is null;

-- Parts of long replies until all of them are here, or their time is over.
create table reply_parts (
  route text collate "C" not null,
  sender text collate "C" not null,
  receiver text collate "C" not null,
  reference text collate "C" not null, -- as the SMSC numbers what belongs together
  number smallint not null check (number between 1 and 255),
  total smallint not null check (total between 1 and 255),
  encoding text not null check (encoding in ('gsm7', 'ucs2', 'latin1')),
  content bytea not null,
  received_at timestamptz not null default clock_timestamp(),
  joined_at timestamptz, -- kept for a while after, so that a part handed over again is known
  primary key (route, sender, receiver, reference, total, number)
);
create index reply_parts_open on reply_parts (received_at) where joined_at is null;

-- ---------------------------------------------------------------------------------------------------------------------
-- E-mail: sender domains

create table sender_domains (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  name text collate "C" not null unique, -- in ASCII, small letters: one account holds it at a time
  is_default boolean not null default false,
  dkim_selector text collate "C" not null,
  dkim_public_key text collate "C" not null, -- base64 of the DER form
  dkim_private_key bytea not null, -- encrypted
  confirmed_at timestamptz, -- by staff, where no DNS can be asked
  lost_at timestamptz, -- a record has disappeared since it was verified
  checked_at timestamptz,
  created_at timestamptz not null default now()
);
create index sender_domains_of_account on sender_domains (account_id, id);
create unique index sender_domains_default on sender_domains (account_id) where is_default;

-- What each route needs of a domain's DNS. E-mails from the domain take the routes for which it is verified.
create table sender_domain_routes (
  domain_id text collate "C" not null references sender_domains on delete cascade,
  route text collate "C" not null references routes (name),
  provider_domain_id text, -- where the provider keeps a list of its own
  records jsonb not null, -- what is to be set, and whether it was seen
  verified_at timestamptz, -- since when all that is needed was seen; null: it is not
  missing_since timestamptz, -- of a verified one: when something was first not there any more; it is lost at the second look
  lost_at timestamptz, -- when it stopped being verified
  problem text, -- why it could not be checked the last time
  checked_at timestamptz,
  primary key (domain_id, route)
);
create index sender_domain_routes_of_route on sender_domain_routes (route);

-- ---------------------------------------------------------------------------------------------------------------------
-- E-mail: e-mails, their events, suppressed addresses

create table emails (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  request_id text collate "C" not null,
  interface text not null check (interface in ('v1', 'v2')),
  status text not null check (status in ('queued', 'sent', 'delivered', 'bounced', 'complained', 'failed', 'suppressed', 'unknown')),
  submission text not null default 'waiting' check (submission in ('waiting', 'submitting', 'answered', 'unanswered')),
  route text collate "C" not null,
  provider_email_id text collate "C",
  key_scope text, -- the provider's account that knows what became of the first try; null: a provider with one account
  claims integer not null default 0, -- how often it was about to leave: names the try that an answer belongs to
  domain text collate "C" not null, -- of the sender's address
  from_address text not null,
  from_name text,
  reply_to text,
  subject text not null,
  headers jsonb not null default '[]',
  idx text check (char_length(idx) between 1 and 64),
  unsubscribe_token text collate "C", -- of its List-Unsubscribe header
  file_bytes bigint not null default 0 check (file_bytes >= 0), -- of its files, which count for a quota while it waits
  cost_grosze bigint not null check (cost_grosze >= 0),
  test_credits smallint not null default 0 check (test_credits >= 0),
  left_out smallint not null default 0 check (left_out >= 0), -- addresses that were charged and suppressed before it left
  events_left_out bigint not null default 0 check (events_left_out >= 0), -- opens, clicks and reports by e-mail beyond those that are kept
  error_code text,
  -- When a provider may first have had it: so long its idempotency key is good.
  first_submitted_at timestamptz,
  sent_at timestamptz,
  give_up_at timestamptz not null, -- when the wait for events ends
  erased_at timestamptz, -- when contents and addresses were taken out; null: they are there
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index emails_history on emails (account_id, id desc);
create index emails_history_by_status on emails (account_id, status, id desc);
create index emails_by_idx on emails (account_id, idx, id desc) where idx is not null;
create index emails_provider_id on emails (route, provider_email_id) where provider_email_id is not null;
create index emails_request on emails (request_id);
create index emails_reports on emails (account_id, created_at, id) include (cost_grosze, status);
-- What e-mails take of their account's quotas, also where many come at once.
create index emails_with_files on emails (account_id) include (file_bytes) where file_bytes > 0 and status = 'queued';
-- As messages_queued and messages_route.
create index emails_queued on emails (route, submission) where status = 'queued';
create index emails_route on emails
  using brin (route text_bloom_ops (n_distinct_per_range = 16, false_positive_rate = 0.001)) with (autosummarize = on);

create trigger emails_kept before delete on emails for each row execute function keep_subject();
create table email_recipients (
  email_id text collate "C" not null references emails on delete cascade,
  position smallint not null,
  account_id text collate "C" not null references accounts,
  kind text not null check (kind in ('to', 'cc', 'bcc')),
  address text not null,
  -- the last that is known of this address; suppressed: left out when it was sent
  state text not null default 'queued'
    check (state in ('queued', 'suppressed', 'sent', 'delivered', 'delayed', 'bounced', 'complained')),
  primary key (email_id, position)
);
create index email_recipients_of_address on email_recipients (lower(address), account_id, email_id desc);

-- What was charged for addresses that were left out is given back when it is known what becomes of the rest; where nothing is left, or
-- the e-mail fails, all of it is, so that an e-mail is refunded once. By a trigger, as answers and events may both prove that it was taken.
create function refund_left_out() returns trigger language plpgsql as $$
begin
  insert into ledger_entries (account_id, kind, amount_grosze, test_credits, subject_kind, subject_id)
  select c.account_id, 'refund', -c.amount_grosze * new.left_out / p.paid, -c.test_credits * new.left_out / p.paid, 'email', new.id
    from ledger_entries c
    cross join (select new.left_out + count(*) filter (where state <> 'suppressed') as paid
                  from email_recipients where email_id = new.id) p
   where c.subject_id = new.id and c.kind = 'charge'
  on conflict (subject_id, kind) where subject_id is not null do nothing;
  return null;
end $$;
create trigger emails_left_out after update of status on emails
  for each row when (new.left_out > 0 and old.status = 'queued' and new.status not in ('queued', 'failed', 'suppressed'))
  execute function refund_left_out();

create table email_contents (
  email_id text collate "C" primary key references emails on delete cascade,
  html text,
  text text
);

-- Files are kept until the e-mail was handed over, in pieces that are read and written one at a time.
create table email_attachments (
  email_id text collate "C" not null references emails on delete cascade,
  number smallint not null,
  filename text not null,
  content_type text not null,
  content_id text,
  bytes integer not null check (bytes >= 0),
  primary key (email_id, number)
);
create table email_attachment_pieces (
  email_id text collate "C" not null,
  number smallint not null,
  piece smallint not null,
  content bytea storage external not null, -- most files are compressed already
  primary key (email_id, number, piece),
  foreign key (email_id, number) references email_attachments on delete cascade
);

-- What providers reported, kept as it came, each event once by its id; look_at is null once its e-mail was found and its webhook
-- notified, or it was left to staff.
create table provider_email_events (
  route text collate "C" not null,
  event_id text collate "C" not null,
  email_id text collate "C", -- where the provider returned our id, and once it is found by the provider's
  provider_email_id text collate "C",
  kind text not null,
  permanent boolean, -- of a bounce
  addresses text[] not null,
  names_all_to boolean not null default false, -- the addresses are all that the e-mail has in `to`, whomever the event is about
  -- Written to a return path, which everybody knows who got the e-mail: it says less than what a provider says itself.
  unverified boolean not null default false,
  at timestamptz not null,
  payload jsonb not null,
  received_at timestamptz not null default clock_timestamp(),
  applied_at timestamptz, -- when the e-mail took note of it
  webhook_event text collate "C", -- what the webhook is notified with
  look_at timestamptz default now(),
  primary key (route, event_id)
);
create index provider_email_events_due on provider_email_events (look_at) where look_at is not null;
create index provider_email_events_unmatched on provider_email_events (route, provider_email_id) where applied_at is null;
create index provider_email_events_of_email on provider_email_events (email_id) where email_id is not null;
create index provider_email_events_by_time on provider_email_events using brin (received_at) with (autosummarize = on);
-- The clean-up finds these every hour without reading what is kept: events that met no e-mail, those that no webhook was notified of,
-- and what still holds something of a provider's words.
create index provider_email_events_left on provider_email_events (received_at)
  where applied_at is null and webhook_event is null;
create index provider_email_events_untold on provider_email_events (received_at) where webhook_event is null;
create index provider_email_events_in_full on provider_email_events (received_at) where payload <> '{}';

-- The events of an e-mail as its account sees them.
create table email_events (
  id bigint generated always as identity primary key,
  email_id text collate "C" not null references emails on delete cascade,
  kind text not null check (kind in ('sent', 'delivered', 'bounced', 'complained', 'delayed', 'opened', 'clicked', 'failed',
    'suppressed', 'unsubscribed')),
  address text, -- whom it concerns; null: the whole e-mail
  at timestamptz not null,
  details jsonb not null default '{}'
);
create index email_events_of_email on email_events (email_id, id);

-- Addresses that an account is not to write to any more.
create table suppressions (
  account_id text collate "C" not null references accounts,
  address text collate "C" not null, -- in small letters
  reason text not null check (reason in ('bounce', 'complaint', 'unsubscribe', 'manual')),
  email_id text collate "C", -- what it followed from
  created_at timestamptz not null default now(),
  primary key (account_id, address)
);
create trigger suppressions_added after insert on suppressions referencing new table as added
  for each statement execute function count_added('suppressions');
create trigger suppressions_removed after delete on suppressions referencing old table as removed
  for each statement execute function count_removed('suppressions');

-- One for each e-mail with a List-Unsubscribe header, made when it is charged; the token says nothing of the address.
create table unsubscribe_links (
  token text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  address text collate "C" not null, -- in small letters
  email_id text collate "C" not null,
  created_at timestamptz not null default now()
);
create index unsubscribe_links_of_address on unsubscribe_links (address);
create index unsubscribe_links_by_time on unsubscribe_links using brin (created_at) with (autosummarize = on);

-- E-mails of the service itself: monthly statements, and reminders of them. What is to be sent and what became of it, ids alone: words
-- and addresses are made when it is sent.
create table own_emails (
  idx text collate "C" primary key check (char_length(idx) between 1 and 64), -- the e-mail's own idx, by which it is sent once
  kind text not null check (kind in ('statement', 'reminder')),
  subject text collate "C" not null, -- the statement
  tries integer not null default 0,
  next_try_at timestamptz default now(), -- null: it is over
  refusal text, -- why it was not accepted the last time
  email_id text collate "C",
  accepted_at timestamptz,
  created_at timestamptz not null default now(),
  check ((email_id is null) = (accepted_at is null))
);
create index own_emails_due on own_emails (next_try_at) where next_try_at is not null;
create index own_emails_of_subject on own_emails (subject, created_at);

-- ---------------------------------------------------------------------------------------------------------------------
-- Webhooks

-- An event names its subject, so that a product needs no column of its own. A message or an e-mail has many; a link has one (its first
-- click), and a reply one of each interface.
create table webhook_events (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  subject_kind text not null check (subject_kind in ('message', 'link', 'inbound', 'inbound_v1', 'email', 'domain')),
  subject_id text collate "C" not null,
  type text not null,
  snapshot jsonb not null, -- what was true at the event and changes later
  state text not null default 'pending' check (state in ('pending', 'delivered', 'exhausted')),
  exhausted_at timestamptz, -- when its last attempt failed, as long as nobody has taken it since, and its attempts are logged
  created_at timestamptz not null default clock_timestamp(),
  check (exhausted_at is null or state = 'exhausted')
);
-- The events that no attempt delivered. An index on the state of all events would make every delivery dearer.
create index webhook_events_exhausted on webhook_events (account_id, id desc) where exhausted_at is not null;
create index webhook_events_subject on webhook_events (subject_id);
create unique index webhook_events_once on webhook_events (subject_id) where subject_kind in ('link', 'inbound');
create unique index webhook_events_once_v1 on webhook_events (subject_id) where subject_kind = 'inbound_v1';
create index webhook_events_account on webhook_events (account_id, id desc);

create table webhook_attempts (
  event_id text collate "C" not null references webhook_events,
  attempt smallint not null,
  url text not null,
  at timestamptz not null default now(),
  duration_ms integer not null,
  status_code smallint,
  error text,
  answer text, -- the first bytes of what the receiver said
  primary key (event_id, attempt)
);

-- Deliveries that somebody asked for again: the same event, further attempts. The event keeps its own state until one of
-- them is taken.
create table webhook_resends (
  event_id text collate "C" not null references webhook_events,
  round smallint not null check (round > 0),
  account_id text collate "C" not null references accounts,
  requested_by text not null check (requested_by in ('account', 'staff')),
  attempts_before smallint not null, -- logged until then
  state text not null default 'pending' check (state in ('pending', 'delivered', 'exhausted')),
  requested_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  primary key (event_id, round)
);
create index webhook_resends_pending on webhook_resends (account_id, requested_at) where state = 'pending';

-- ---------------------------------------------------------------------------------------------------------------------
-- Reports

-- What came of each message, counted when it happens: a report then reads one row beside the message instead of finding it
-- again for a million of them. Only the triggers below and who counts clicks write here, in the transaction of what happened.
create table message_effects (
  account_id text collate "C" not null,
  created_at timestamptz not null, -- the message's
  message_id text collate "C" not null,
  refunded_grosze integer, -- null: nothing was refunded; 0: a test message was
  clicks integer not null default 0,
  robot_clicks integer not null default 0,
  replies integer not null default 0,
  stops integer not null default 0,
  page_opt_outs integer not null default 0,
  primary key (account_id, created_at, message_id)
) with (fillfactor = 90);

create function add_effects(message text, refunded integer, replies integer, stops integer, page_opt_outs integer)
  returns void language plpgsql as $$
begin
  insert into message_effects as e (account_id, created_at, message_id, refunded_grosze, replies, stops, page_opt_outs)
  select m.account_id, m.created_at, m.id, $2, $3, $4, $5 from messages m where m.id = $1
  on conflict on constraint message_effects_pkey do update
     set refunded_grosze = coalesce(e.refunded_grosze, excluded.refunded_grosze),
         replies = e.replies + excluded.replies, stops = e.stops + excluded.stops,
         page_opt_outs = e.page_opt_outs + excluded.page_opt_outs;
end $$;

create function add_refund() returns trigger language plpgsql as $$
begin
  perform add_effects(new.subject_id, new.amount_grosze::integer, 0, 0, 0);
  return null;
end $$;
create trigger ledger_effects after insert on ledger_entries
  for each row when (new.kind = 'refund' and new.subject_kind = 'message') execute function add_refund();

create function add_reply() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and (old.reply_to, old.opt_out) is not distinct from (new.reply_to, new.opt_out) then
    return null;
  end if;
  if tg_op <> 'INSERT' and old.reply_to is not null then
    perform add_effects(old.reply_to, null, -1, -old.opt_out::integer, 0);
  end if;
  if tg_op <> 'DELETE' and new.reply_to is not null then
    perform add_effects(new.reply_to, null, 1, new.opt_out::integer, 0);
  end if;
  return null;
end $$;
create trigger inbound_messages_effects after insert or update or delete on inbound_messages
  for each row execute function add_reply();

create function add_opt_out() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.message_id is not distinct from new.message_id then
    return null;
  end if;
  if tg_op <> 'INSERT' and old.message_id is not null then
    perform add_effects(old.message_id, null, 0, 0, -1);
  end if;
  if tg_op <> 'DELETE' and new.message_id is not null then
    perform add_effects(new.message_id, null, 0, 0, 1);
  end if;
  return null;
end $$;
create trigger blacklist_effects after insert or update or delete on blacklist
  for each row execute function add_opt_out();

-- ---------------------------------------------------------------------------------------------------------------------
-- Support and maintenance

create table audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  actor text not null,
  action text not null,
  account_id text collate "C",
  subject text,
  details jsonb not null default '{}',
  request_id text collate "C" -- the request of the API; null: a command of staff, or the service itself
);
create index audit_log_account on audit_log (account_id, id);
create trigger audit_append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_change();

-- Where a request in the log came from. Personal data, so apart from the log that nobody can change, and deleted with the other logs.
-- No foreign key: the log would refuse to be emptied because of it, not because of its own rule.
create table audit_addresses (
  audit_id bigint primary key,
  address inet not null,
  at timestamptz not null default now()
);

-- What the reconciliation found, one row for each thing. open: a person has to look at it; repaired: the reconciliation put it right;
-- gone: it was open and is no longer so, for whatever reason.
create table findings (
  id bigint generated always as identity primary key,
  kind text not null,
  subject text collate "C" not null, -- the id of the message, look-up, request or account
  account_id text collate "C" references accounts,
  state text not null check (state in ('open', 'repaired', 'gone')),
  repairs integer not null default 0, -- how often
  details jsonb not null default '{}', -- never personal data
  first_seen_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  -- When staff dismissed it: until what it is about is seen to be well, or it is found again. A message whose workflow had ended
  -- before it is not started again because of that.
  dismissed_at timestamptz,
  unique (kind, subject)
);
create index findings_open on findings (id) where state = 'open';

-- When each step of the regular work last succeeded, so that work that fails for good is seen.
create table regular_work (
  activity text collate "C" primary key,
  schedule text not null,
  interval_seconds integer not null check (interval_seconds > 0),
  -- Before its first success: since when it is expected.
  succeeded_at timestamptz not null default now()
);

-- How far work has come that goes on from run to run.
create table maintenance_positions (
  name text primary key,
  position text collate "C" not null,
  updated_at timestamptz not null default now()
);

-- Messages whose text is due to be erased and that had not ended yet: looked at again every day.
create table erasures_postponed (
  message_id text collate "C" primary key references messages
);

-- Single facts about this installation, such as the fingerprint of its secrets key.
create table installation (
  name text primary key,
  value text not null
);

-- ---------------------------------------------------------------------------------------------------------------------
-- The simulated network's own memory. Nothing of the service reads it but that provider.

create table simulator_submits (
  provider_message_id text collate "C" primary key,
  route text collate "C" not null default 'simulator',
  reference text collate "C" not null,
  channel text not null default 'sms' check (channel in ('sms', 'mms', 'vms')),
  source text,
  destination text collate "C" not null,
  encoding text not null,
  content text not null,
  options jsonb, -- what is given beside the text, as the message's `content`; null: nothing
  part smallint not null,
  parts smallint not null,
  priority boolean not null,
  received_at timestamptz not null default clock_timestamp()
);
create index simulator_submits_reference on simulator_submits (reference);
create table simulator_throttles (
  reference text collate "C" primary key,
  refused integer not null,
  refused_at timestamptz not null default now() -- the first time
);
create table simulator_reports (
  id bigint generated always as identity primary key,
  route text collate "C" not null default 'simulator',
  provider_message_id text collate "C" not null,
  reference text collate "C" not null,
  state text not null,
  due_at timestamptz not null
);
create index simulator_reports_due on simulator_reports (route, due_at);

-- Replies that it has still to hand over.
create table simulator_replies (
  id bigint generated always as identity primary key,
  route text collate "C" not null default 'simulator',
  source text collate "C" not null,
  destination text collate "C",
  content text not null,
  created_at timestamptz not null default clock_timestamp()
);

create table simulator_emails (
  provider_email_id text collate "C" primary key,
  route text collate "C" not null,
  reference text collate "C" not null, -- our id, which is its idempotency key
  mail jsonb not null, -- as it was handed over, without the files' contents
  tries integer not null default 1,
  received_at timestamptz not null default clock_timestamp(),
  unique (route, reference)
);
create index simulator_emails_by_time on simulator_emails (received_at);
create table simulator_email_events (
  id bigint generated always as identity primary key,
  route text collate "C" not null,
  provider_email_id text collate "C" not null,
  reference text collate "C" not null,
  kind text not null,
  permanent boolean,
  address text not null,
  due_at timestamptz not null
);
create index simulator_email_events_due on simulator_email_events (route, due_at);
