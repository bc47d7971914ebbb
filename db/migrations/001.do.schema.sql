-- Money is in grosze, net. Ids are compared bytewise, so that they sort by creation time. Custom SQLSTATEs: GN402 insufficient funds, GN409
-- forbidden transition, GN423 keyword resting, GN429 too many resting keywords.

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
  -- Not migrated: v1.2.0 shows the balance of its upstream provider, and no history.
  legacy_proxy boolean not null default false,
  billing_mode text not null default 'prepaid' check (billing_mode in ('prepaid', 'postpaid')),
  -- Earlier charges were prepaid and are in no statement. Null: always postpaid, or prepaid.
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
  quotas jsonb not null default '{}' check (jsonb_typeof(quotas) = 'object'), -- only those that differ from the defaults
  -- Thresholds above which a send through a tool needs confirmation; null: the installation default.
  tool_confirm_recipients integer check (tool_confirm_recipients >= 0),
  tool_confirm_grosze integer check (tool_confirm_grosze >= 0),
  sender_name text,
  send_window text,
  contact_email text, -- receives its statements; null: none are sent
  webhook_url text,
  webhook_secret bytea, -- encrypted
  webhook_secret_before bytea, -- encrypted; signs a second header for 24 hours after a change
  webhook_secret_changed_at timestamptz,
  legacy_webhook_url text, -- of v1.2.0
  legacy_webhook_secret bytea, -- encrypted
  inbound_number text,
  inbound_prefix text unique,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index accounts_inbound on accounts (inbound_number) where inbound_number is not null;
-- Few accounts have a former secret, and expired ones are searched every ten seconds.
create index accounts_former_secret on accounts (webhook_secret_changed_at) where webhook_secret_before is not null;

create table api_keys (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  hash bytea not null unique, -- SHA-256 of the whole key
  hint text not null,         -- prefix and last four characters, for people
  mode text not null check (mode in ('test', 'live')),
  scopes text[] not null check (scopes <@ array['send', 'read', 'manage']),
  -- Daily budget for tool calls, by the calendar day in Poland; null: no limit but the balance.
  tool_budget_grosze bigint check (tool_budget_grosze >= 0),
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  revoked_at timestamptz
);
create index api_keys_account on api_keys (account_id);

-- Tokens of v1.2.0. Revoked ones are kept.
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

-- Unlogged: a crash loses only the counts of the last minute.
create unlogged table rate_windows (
  account_id text collate "C" primary key,
  started_at timestamptz not null,
  used integer not null
);

-- Quota counters per account, updated by triggers in the statement that changes the rows.
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

-- Closed accounts that may still have messages to cancel.
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

-- Everyday words and numbers that staff allow an account to claim as its keyword.
create table allowed_keywords (
  account_id text collate "C" not null references accounts,
  word text collate "C" not null,
  allowed_at timestamptz not null default now(),
  primary key (account_id, word)
);

-- A released keyword rests for 30 days, during which only its former owner can claim it.
create table resting_keywords (
  word text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  given_up_at timestamptz not null default now()
);
create index resting_keywords_of_account on resting_keywords (account_id);

-- A closed account receives no replies, so its keyword is released.
create function give_keyword_up() returns trigger language plpgsql as $$
begin
  new.inbound_prefix := null;
  return new;
end $$;
create trigger accounts_closed before update of status on accounts
  for each row when (new.status = 'closed' and new.inbound_prefix is not null) execute function give_keyword_up();

-- Puts a changed keyword to rest, and refuses resting ones. Runs after the unique index, which serializes claims of a word, so that it sees
-- the release by the former owner. An account may have five resting keywords when it claims another, or else it could block any number of
-- words.
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

-- Every change of a balance. Entries refer to their subject by kind and id, so that a new product needs no new column. Instead of a foreign
-- key, post_ledger_entries checks that the subject of a charge, refund or payment exists, and keep_subject prevents its deletion.
create table ledger_entries (
  id bigint generated always as identity primary key,
  account_id text collate "C" not null references accounts,
  kind text not null check (kind in ('opening', 'topup', 'charge', 'refund', 'adjustment', 'payment')),
  amount_grosze bigint not null,
  test_credits integer not null default 0,
  subject_kind text check (subject_kind in ('message', 'lookup', 'statement', 'email')),
  subject_id text collate "C",
  reference text collate "C" check (reference <> ''), -- of a payment, as given by the payer or the bank
  note text,
  created_at timestamptz not null default now(),
  check ((subject_kind is null) = (subject_id is null)),
  check (kind not in ('charge', 'refund') or subject_id is not null),
  -- A payment pays one whole statement, and statements have no other entries.
  check ((kind = 'payment') = (subject_kind is not distinct from 'statement'))
);
-- At most one charge and one refund per message, look-up or e-mail, and one payment per statement.
create unique index ledger_once_per_subject on ledger_entries (subject_id, kind) where subject_id is not null;
-- A payment is booked only once.
create unique index ledger_once_per_payment on ledger_entries (account_id, reference) where reference is not null;
-- Covers the sums that reconciliation compares with the balance.
create index ledger_of_account on ledger_entries (account_id, id) include (amount_grosze, test_credits);
create index ledger_lookups on ledger_entries (account_id, created_at) where subject_kind = 'lookup';
-- For the sum of a monthly statement, however long the ledger is.
create index ledger_sums on ledger_entries (account_id, created_at) where kind in ('charge', 'refund');
create trigger ledger_append_only before update or delete or truncate on ledger_entries
  for each statement execute function refuse_change();

-- The only place where balances change, in the statement that writes the entries. Without sequential scans: a connection keeps a plan from
-- when the tables were small, which takes seconds for a large request.
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

-- Monthly statements of postpaid accounts; an overdue one suspends sends.
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

-- Work accepted and charged whose workflow is still to be started. Workers start the workflow, whose first step deletes the row; so the
-- table holds exactly what is still to be started. The API itself starts look-ups, as their callers wait. Also for free work: replies,
-- resends of webhook events, and events without a workflow of their subject (first click of a link, sender domain, message settled by
-- staff).
create table reservations (
  subject_id text collate "C" primary key,
  kind text not null check (kind in ('message', 'email', 'lookup', 'reply', 'event', 'resend')),
  account_id text collate "C" not null, -- for fair scheduling; empty for a reply, whose account is unknown
  priority boolean not null,
  reserved_at timestamptz not null default now(),
  start_after timestamptz not null default now(), -- lease of the worker that starts it
  trace text -- traceparent of the request (W3C Trace Context); null when it is not traced
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
create index reservations_in_turn on reservations (account_id, priority desc, subject_id);

-- Charges by tool calls, for keys with a budget.
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

-- Normalizes names for comparison and search: without case and diacritics, so that "zolw" finds "Żółw".
create function search_form(value text) returns text language sql immutable strict parallel safe as
  $$ select lower(public.unaccent('public.unaccent', value) collate "und-x-icu") $$;

-- The LIKE pattern that finds a fragment in a result of search_form; escapes `%`, `_` and `\`.
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
  -- One line per searchable column, so that a fragment cannot match across two of them.
  search text not null generated always as (
    msisdn || E'\n' || coalesce(search_form(first_name), '') || E'\n' || coalesce(search_form(last_name), '')
      || E'\n' || coalesce(search_form(email), '')) stored,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Account first: a page is a contiguous range of this index.
  primary key (account_id, id),
  unique (account_id, msisdn)
);
create index contacts_search on contacts using gin (account_id, search gin_trgm_ops);
create trigger contacts_added after insert on contacts referencing new table as added
  for each statement execute function count_added('contacts');
create trigger contacts_removed after delete on contacts referencing old table as removed
  for each statement execute function count_removed('contacts');

-- Octets of personal data of a contact.
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

-- The account is part of both foreign keys, so that no membership can link two accounts.
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
  -- draining: gets no new messages but sends those it has; disabled: sends nothing
  state text not null default 'active' check (state in ('active', 'draining', 'disabled')),
  settings jsonb not null default '{}',
  credentials bytea, -- encrypted
  rate_per_second integer check (rate_per_second > 0), -- parts; null: not limited by the carrier
  broken_after_s integer not null default 10 check (broken_after_s > 0), -- seconds without a session
  revision integer not null default 1, -- incremented by every change, for running sessions to notice
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- Which traffic a route is used for; null conditions match everything.
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

-- Runtime state of routes. Unlogged: after a crash it is rebuilt within a second.
create unlogged table route_states (
  route text collate "C" primary key,
  working_at timestamptz,  -- last known success
  submitting_since timestamptz, -- first known success of a submit; since then delivery reports are expected
  next_slot_at timestamptz, -- when the rate limit allows the next part
  reported_at timestamptz,
  replied_at timestamptz
);
create unlogged table route_workers (
  route text collate "C" not null,
  worker text not null,
  seen_at timestamptz not null,
  sessions smallint not null,        -- open
  sessions_wanted smallint not null,
  window_size integer not null,      -- maximum of open submits
  in_flight integer not null,
  submitted bigint not null,         -- parts accepted by the SMSC since the worker started
  throttled bigint not null,
  refused bigint not null,
  unanswered bigint not null,
  held bigint not null,              -- deferred, or not accepted because of the route
  failures bigint not null,          -- failed or lost connections and binds
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
  interface text not null default 'v2' check (interface in ('v1', 'v2')),
  channel text not null default 'sms' check (channel in ('sms', 'mms', 'vms')),
  status text not null check (status in ('scheduled', 'queued', 'sent', 'delivered', 'undelivered', 'failed', 'rejected',
    'expired', 'cancelled')),
  accepted_as text not null check (accepted_as in ('scheduled', 'queued', 'rejected')),
  submission text not null default 'waiting' check (submission in ('waiting', 'submitting', 'answered', 'unanswered')),
  recipient text collate "C" not null,
  country text, -- ISO 3166-1 alpha-2; null if the number belongs to no country
  sender text,
  text text not null,
  content jsonb, -- content of the channel beside the text; null: none
  parts smallint not null check (parts > 0),
  -- How the text was split into parts at acceptance, in a format of the channel: it is submitted so, even by a later release that would
  -- split it differently.
  cut text,
  cost_grosze bigint not null check (cost_grosze >= 0),
  test_credits smallint not null default 0 check (test_credits >= 0),
  priority boolean not null default false,
  reference text,
  idx text check (char_length(idx) between 1 and 255), -- the caller's identifier in v1.2.0
  send_at timestamptz,              -- null: not scheduled
  expires_at timestamptz,           -- as requested
  give_up_at timestamptz not null,  -- deadline for delivery reports
  route text not null,
  concat_reference integer, -- joins the parts of a long message; assigned at the first submit, kept for all tries
  opt_out_token text collate "C", -- its link is created when the message is accepted
  -- Position in the v1.2.0 history: epoch second of acceptance for sending × 10^6, plus a number unique within that second. Null: still
  -- scheduled, or cancelled or expired before its send time.
  sent_key bigint,
  error_code text,
  delivered_at timestamptz,
  erased_at timestamptz, -- when text and number were erased
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index messages_history on messages (account_id, id desc);
create index messages_history_by_status on messages (account_id, status, id desc);
create index messages_history_by_reference on messages (account_id, reference, id desc)
  where reference is not null;
-- For the last message to a number across accounts, and an account's history by number.
create index messages_by_recipient on messages (recipient, account_id, id desc);
create index messages_request on messages (request_id, id);
create index messages_unanswered on messages (created_at) where submission = 'unanswered';
-- Covers reports: a period is a contiguous range, in the order of message_effects, without reading the table.
create index messages_reports on messages (account_id, created_at, id)
  include (cost_grosze, delivered_at, send_at, parts, test_credits, status, channel, sender, country, reference);
-- Counts the queued and unanswered messages of a route by an index-only scan.
create index messages_queued on messages (route, submission) where status = 'queued';
-- Tells in a few kilobytes that a route was never used; a B-tree would be as large as the primary key.
create index messages_route on messages
  using brin (route text_bloom_ops (n_distinct_per_range = 16, false_positive_rate = 0.001)) with (autosummarize = on);
-- Finds submits to a phone that may still be answered, however many messages it got.
create index messages_submitting on messages (recipient) where submission in ('submitting', 'unanswered');
-- An account's last answerable message to a number (see is_answerable), however many other accounts wrote there. Leaves out free messages
-- (rejected, cancelled), of which a number may have any number.
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

create trigger messages_kept before delete on messages for each row execute function keep_subject();
-- History classes of v1.2.0, see domain/earlierStatus.ts; a test compares the two.
create function history_class(status text, error_code text, submission text) returns text
  language sql immutable parallel safe as $$
  select case when status = 'failed' and error_code is distinct from 'rejected_on_report' then 'failed_unsent'
              when status = 'expired' and submission = 'waiting' then 'expired_unsent'
              else status end
$$;
-- A query for several classes merges their index ranges.
create index messages_by_sent_key on messages (account_id, history_class(status, error_code, submission), sent_key desc)
  where sent_key is not null;

-- Wraps around only after a million messages, which takes longer than the second it has to be unique in.
create sequence sent_numbers minvalue 0 maxvalue 999999 start 0 cycle cache 1;
-- Security definer: no role needs rights to the sequence.
create function take_sent_key() returns trigger language plpgsql security definer
  set search_path = pg_catalog, public, pg_temp as $$
begin
  new.sent_key := floor(extract(epoch from clock_timestamp()))::bigint * 1000000 + nextval('public.sent_numbers');
  return new;
end $$;
-- A scheduled message that is cancelled, or expires while paused, never gets a key.
create trigger messages_sent_key_at_once before insert on messages
  for each row when (new.status <> 'scheduled' and new.sent_key is null) execute function take_sent_key();
create trigger messages_sent_key before update of status on messages
  for each row when (old.status = 'scheduled' and new.status = 'queued') execute function take_sent_key();

-- One submit to a provider. `submitting` is committed before the submit: found after a crash, it means that the outcome is unknown, and the
-- part is never submitted twice.
create table message_parts (
  message_id text collate "C" not null references messages,
  part smallint not null,
  state text not null check (state in ('submitting', 'held', 'accepted', 'refused', 'unanswered')),
  tries integer not null default 1,
  route text not null,
  provider_message_id text collate "C",
  submitted_at timestamptz not null default now(),
  answered_at timestamptz,
  answer_code text, -- the response of a provider that did not accept the part
  resubmitted_at timestamptz, -- resubmit ordered by staff while the outcome was unknown
  report_state text,
  reported_at timestamptz,
  primary key (message_id, part)
);
create index message_parts_provider_id on message_parts (route, provider_message_id) where provider_message_id is not null;
create index message_parts_unanswered on message_parts (route, submitted_at) where state = 'unanswered';
-- Waiting for a resubmit while the SMSC may have the earlier submit, whose delivery reports are matched too.
create index message_parts_resubmitted on message_parts (route, submitted_at)
  where state = 'held' and resubmitted_at is not null;
create index message_parts_route on message_parts
  using brin (route text_bloom_ops (n_distinct_per_range = 16, false_positive_rate = 0.001)) with (autosummarize = on);

-- Last concatenation reference of each recipient.
create table concat_references (
  recipient text collate "C" primary key,
  last integer not null,
  used_at timestamptz not null default now()
);

-- Moves between routes, for the timeline; rare, hence a table apart.
create table message_moves (
  id bigint generated always as identity primary key,
  message_id text collate "C" not null references messages,
  from_route text collate "C" not null,
  to_route text collate "C" not null,
  at timestamptz not null default now()
);
create index message_moves_message on message_moves (message_id);

-- Messages whose workflow waits for the suspended account; deleted when the message goes on or ends. A message cancelled with its account
-- stays until its workflow is signalled.
create table paused_messages (
  message_id text collate "C" primary key references messages,
  account_id text collate "C" not null references accounts,
  paused_at timestamptz not null default now(),
  taken_until timestamptz, -- lease of the worker that signals its workflow
  resumed_at timestamptz -- when its workflow was signalled; null: to be signalled once the account is not suspended
);
create index paused_messages_waiting on paused_messages (account_id, message_id) where resumed_at is null;
create index paused_messages_resumed on paused_messages (account_id, resumed_at) where resumed_at is not null;

-- Outcomes to be signalled to workflows; written with the outcome, deleted once signalled.
create table outcome_signals (
  id bigint generated always as identity primary key,
  message_id text collate "C" not null references messages,
  account_id text collate "C", -- for fair scheduling, with the priority
  priority boolean,
  status text not null,
  event_ids text[] not null,
  created_at timestamptz not null default now(),
  due_at timestamptz not null default now() -- lease of the worker that signals it; a duplicate signal is harmless
);
create index outcome_signals_of_message on outcome_signals (message_id);
-- For fair scheduling. Includes leased rows: they are few, and are taken again if their worker died.
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
  request_id text collate "C" not null, -- each item of a request may have its own key
  accepted_body jsonb not null, -- the response to the accepted request
  created_at timestamptz not null default now(),
  primary key (account_id, key)
);
create index idempotency_keys_request on idempotency_keys (request_id);

-- ---------------------------------------------------------------------------------------------------------------------
-- Delivery reports

-- Reports from providers, as received; applied_at is null until a part matches.
create table delivery_reports (
  id bigint generated always as identity primary key,
  route text not null,
  provider_message_id text collate "C" not null,
  alternative_id text collate "C", -- the id in the alternative notation that the route allows
  message_id text collate "C", -- from the returned reference; not verified, hence no foreign key
  part smallint,
  phone text collate "C", -- E.164 with plus
  state text not null,
  error_code text,
  details text, -- the raw report, without the text of the message
  received_at timestamptz not null default now(),
  applied_at timestamptz,
  look_at timestamptz default now() -- next attempt to match it; null: applied, or left to staff
);
create index delivery_reports_unapplied on delivery_reports (route, provider_message_id) where applied_at is null;
-- Unmatched reports are deleted early.
create index delivery_reports_unmatched on delivery_reports (received_at) where applied_at is null;
create index delivery_reports_due on delivery_reports (look_at, id) where look_at is not null;
create index delivery_reports_by_phone on delivery_reports (route, phone, id) where look_at is not null;
create index delivery_reports_alternative on delivery_reports (route, alternative_id)
  where look_at is not null and alternative_id is not null;
-- Reports are in order of time, so a BRIN index finds a few minutes of them at almost no cost.
create index delivery_reports_by_time on delivery_reports using brin (received_at) with (autosummarize = on);
create index delivery_reports_route on delivery_reports
  using brin (route text_bloom_ops (n_distinct_per_range = 16, false_positive_rate = 0.001)) with (autosummarize = on);
-- For erasure: reports matched by id or by alternative id, those with our reference, and those with a phone.
create index delivery_reports_applied on delivery_reports (route, provider_message_id) where applied_at is not null;
create index delivery_reports_applied_alternative on delivery_reports (route, alternative_id)
  where applied_at is not null and alternative_id is not null;
create index delivery_reports_of_message on delivery_reports (message_id)
  where applied_at is not null and message_id is not null;
create index delivery_reports_of_phone on delivery_reports (phone) where phone is not null;

-- ---------------------------------------------------------------------------------------------------------------------
-- Look-ups

create table number_lookups (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  msisdn text collate "C" not null,
  route text not null,
  -- charged: under way; failed: refunded
  state text not null default 'charged' check (state in ('charged', 'done', 'failed')),
  reason text, -- of a failure
  cost_grosze integer not null check (cost_grosze >= 0),
  -- The row of tool_spending that it is charged to, and refunded from; null: none.
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
-- Concurrent look-ups of a number share one row.
create unique index number_lookups_in_progress on number_lookups (account_id, msisdn) where state = 'charged';
create index number_lookups_known on number_lookups (account_id, msisdn, checked_at desc) where state = 'done';
-- For erasure, in any state.
create index number_lookups_of_number on number_lookups (msisdn);
create trigger number_lookups_kept before delete on number_lookups for each row execute function keep_subject();

-- Results of asynchronous look-ups, from the callbacks of HTTP providers.
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
  message_id text collate "C" references messages, -- of an opt-out: the message it is attributed to
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  primary key (account_id, msisdn)
);
create index blacklist_of_message on blacklist (message_id) where message_id is not null;
create index blacklist_over on blacklist (expires_at) where expires_at is not null and message_id is null;
create trigger blacklist_added after insert on blacklist referencing new table as added
  for each statement execute function count_added('blacklist');
create trigger blacklist_removed after delete on blacklist referencing old table as removed
  for each statement execute function count_removed('blacklist');

-- Attributes an opt-out on the web page to the last answerable message to the number by send time (see is_answerable), once, when the
-- number is added.
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

-- One link per recipient and sender: the page names the sender, and the token does not reveal the number.
create table opt_out_links (
  token text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  msisdn text collate "C" not null,
  sender text not null,
  created_at timestamptz not null default now(),
  unique (account_id, msisdn, sender)
);

-- Links are created when the first message with one is accepted. Messages accepted concurrently may each bring a token: the later one
-- becomes an alias.
create table opt_out_aliases (
  token text collate "C" primary key,
  link text collate "C" not null references opt_out_links on delete cascade
);
create index opt_out_aliases_of_link on opt_out_aliases (link);
create function publish_opt_out() returns trigger language plpgsql as $$
begin
  -- Serializes acceptances of an account, whose recipients may be in any order, to avoid deadlocks.
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
  recipient text collate "C", -- null once the person is erased; the link keeps working
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

create table message_links (
  message_id text collate "C" not null references messages,
  token text collate "C" not null references tracked_links (token),
  -- Send time of the message if a provider has, or may have, it, so that a click is possible; else null. Stored here, so that a click is
  -- attributed by reading one row, however many messages carry the link.
  answerable_at timestamptz,
  primary key (message_id, token)
);
create index message_links_of_token on message_links (token, message_id desc);
create index message_links_answerable on message_links (token, answerable_at desc, message_id desc)
  where answerable_at is not null;

-- A message waiting to be submitted is not answerable. messages_answerable_of_account and message_before repeat the condition literally, to
-- match an index.
create function is_answerable(status text, submission text) returns boolean language sql immutable parallel safe as $$
  select status in ('queued', 'sent', 'delivered', 'undelivered', 'expired')
     and not (status in ('queued', 'expired') and submission = 'waiting')
$$;

-- Updates only rows of the message itself, so that messages with the same link never wait for each other. Links are inserted with their
-- messages, before any of these is submitted.
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

-- The latest 50 clicks per link, as a ring buffer; totals are in tracked_links and message_effects. No foreign key to the message: a click
-- must not wait for its lock.
create table link_clicks (
  token text collate "C" not null references tracked_links (token),
  place smallint not null check (place between 0 and 49), -- number of the click modulo 50
  message_id text collate "C", -- the message it is attributed to
  clicked_at timestamptz not null,
  user_agent text,
  ip_hash bytea, -- keyed hash of the truncated address
  robot boolean not null,
  primary key (token, place)
);
create index link_clicks_to_erase on link_clicks (clicked_at) where user_agent is not null or ip_hash is not null;

-- A click is attributed to the last answerable message with the link, by send time.
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
  provider_reference text collate "C" not null, -- the provider's id: repeated deliveries are stored once
  sender text collate "C" not null,
  receiver text collate "C",
  received_text text not null, -- as received
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
-- An account sees replies matched by a rule; those that only reached its number may be many.
create index inbound_messages_matched on inbound_messages (account_id, id desc) where state = 'matched';
create index inbound_messages_matched_unread on inbound_messages (account_id, id desc)
  where state = 'matched' and read_at is null;
-- All states: erasure finds the replies of a person by it.
create index inbound_messages_of_sender on inbound_messages (account_id, sender, state, id desc);
-- Replies without an account, for staff.
create index inbound_messages_of_nobody on inbound_messages (id desc) where state = 'unmatched' and account_id is null;

-- Parts of long replies, until all have arrived or the wait for them is over.
create table reply_parts (
  route text collate "C" not null,
  sender text collate "C" not null,
  receiver text collate "C" not null,
  reference text collate "C" not null, -- the concatenation reference of the SMSC
  number smallint not null check (number between 1 and 255),
  total smallint not null check (total between 1 and 255),
  encoding text not null check (encoding in ('gsm7', 'ucs2', 'latin1')),
  content bytea not null,
  received_at timestamptz not null default clock_timestamp(),
  joined_at timestamptz, -- kept for a while to recognize repeated deliveries
  primary key (route, sender, receiver, reference, total, number)
);
create index reply_parts_open on reply_parts (received_at) where joined_at is null;

-- ---------------------------------------------------------------------------------------------------------------------
-- E-mail: sender domains

create table sender_domains (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  name text collate "C" not null unique, -- A-labels in lower case; held by one account at a time
  is_default boolean not null default false,
  dkim_selector text collate "C" not null,
  dkim_public_key text collate "C" not null, -- base64 of the DER form
  dkim_private_key bytea not null, -- encrypted
  confirmed_at timestamptz, -- by staff, where DNS cannot be checked
  lost_at timestamptz, -- when a verified record disappeared
  checked_at timestamptz,
  created_at timestamptz not null default now()
);
create index sender_domains_of_account on sender_domains (account_id, id);
create unique index sender_domains_default on sender_domains (account_id) where is_default;

-- DNS records that each route requires; a domain can be used on routes for which it is verified.
create table sender_domain_routes (
  domain_id text collate "C" not null references sender_domains on delete cascade,
  route text collate "C" not null references routes (name),
  provider_domain_id text, -- if the provider keeps its own list of domains
  records jsonb not null, -- required records, and whether they were seen
  verified_at timestamptz, -- null: not verified
  missing_since timestamptz, -- of a verified domain: when a record was first missing; at the second check the domain is lost
  lost_at timestamptz, -- when it lost its verification
  problem text, -- why the last check failed
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
  key_scope text, -- provider account of the first submit, scope of the idempotency key; null: the provider has only one
  claims integer not null default 0, -- number of submit attempts, identifies the attempt that a response belongs to
  domain text collate "C" not null, -- of the sender address
  from_address text not null,
  from_name text,
  reply_to text,
  subject text not null,
  headers jsonb not null default '[]',
  idx text check (char_length(idx) between 1 and 64),
  unsubscribe_token text collate "C", -- of its List-Unsubscribe header
  file_bytes bigint not null default 0 check (file_bytes >= 0), -- size of its files, counted against a quota while it is queued
  cost_grosze bigint not null check (cost_grosze >= 0),
  test_credits smallint not null default 0 check (test_credits >= 0),
  left_out smallint not null default 0 check (left_out >= 0), -- addresses that were charged, then suppressed before the submit
  events_left_out bigint not null default 0 check (events_left_out >= 0), -- events beyond the limit, which are not stored
  error_code text,
  -- First submit; the lifetime of the idempotency key starts here.
  first_submitted_at timestamptz,
  sent_at timestamptz,
  give_up_at timestamptz not null, -- deadline for the submit
  erased_at timestamptz, -- when contents and addresses were erased
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index emails_history on emails (account_id, id desc);
create index emails_history_by_status on emails (account_id, status, id desc);
create index emails_by_idx on emails (account_id, idx, id desc) where idx is not null;
create index emails_provider_id on emails (route, provider_email_id) where provider_email_id is not null;
create index emails_request on emails (request_id);
create index emails_reports on emails (account_id, created_at, id) include (cost_grosze, status);
-- For quotas, also under concurrency.
create index emails_with_files on emails (account_id) include (file_bytes) where file_bytes > 0 and status = 'queued';
-- See messages_queued and messages_route.
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
  -- last known state; suppressed: left out of the submit
  state text not null default 'queued'
    check (state in ('queued', 'suppressed', 'sent', 'delivered', 'delayed', 'bounced', 'complained')),
  primary key (email_id, position)
);
create index email_recipients_of_address on email_recipients (lower(address), account_id, email_id desc);

-- Refunds addresses that were left out, once the outcome of the others is known; if none is left or the e-mail fails, everything is
-- refunded instead, so that there is only one refund. A trigger, because both responses and events can prove acceptance.
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

-- Files are kept until the submit, in pieces to be read and written one at a time.
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
  content bytea storage external not null, -- most files are already compressed
  primary key (email_id, number, piece),
  foreign key (email_id, number) references email_attachments on delete cascade
);

-- Events from providers, as received, unique by id. look_at is null once the event was applied and its webhook notified, or it was left to
-- staff.
create table provider_email_events (
  route text collate "C" not null,
  event_id text collate "C" not null,
  email_id text collate "C", -- from the provider, or set when matched by the provider id
  provider_email_id text collate "C",
  kind text not null,
  permanent boolean, -- of a bounce
  addresses text[] not null,
  names_all_to boolean not null default false, -- the addresses are the whole `to` of the e-mail, regardless of whom the event concerns
  -- Received at the return path, which every recipient knows: less trustworthy than an event from the provider.
  unverified boolean not null default false,
  at timestamptz not null,
  payload jsonb not null,
  received_at timestamptz not null default clock_timestamp(),
  applied_at timestamptz,
  webhook_event text collate "C", -- the event that its webhook is notified of
  look_at timestamptz default now(),
  primary key (route, event_id)
);
create index provider_email_events_due on provider_email_events (look_at) where look_at is not null;
create index provider_email_events_unmatched on provider_email_events (route, provider_email_id) where applied_at is null;
create index provider_email_events_of_email on provider_email_events (email_id) where email_id is not null;
create index provider_email_events_by_time on provider_email_events using brin (received_at) with (autosummarize = on);
-- For the hourly clean-up: unmatched events, events without a webhook notification, and those that still have a payload.
create index provider_email_events_left on provider_email_events (received_at)
  where applied_at is null and webhook_event is null;
create index provider_email_events_untold on provider_email_events (received_at) where webhook_event is null;
create index provider_email_events_in_full on provider_email_events (received_at) where payload <> '{}';

-- Events of an e-mail as the account sees them.
create table email_events (
  id bigint generated always as identity primary key,
  email_id text collate "C" not null references emails on delete cascade,
  kind text not null check (kind in ('sent', 'delivered', 'bounced', 'complained', 'delayed', 'opened', 'clicked', 'failed',
    'suppressed', 'unsubscribed')),
  address text, -- null: the whole e-mail
  at timestamptz not null,
  details jsonb not null default '{}'
);
create index email_events_of_email on email_events (email_id, id);

create table suppressions (
  account_id text collate "C" not null references accounts,
  address text collate "C" not null, -- lower case
  reason text not null check (reason in ('bounce', 'complaint', 'unsubscribe', 'manual')),
  email_id text collate "C", -- the e-mail that caused it
  created_at timestamptz not null default now(),
  primary key (account_id, address)
);
create trigger suppressions_added after insert on suppressions referencing new table as added
  for each statement execute function count_added('suppressions');
create trigger suppressions_removed after delete on suppressions referencing old table as removed
  for each statement execute function count_removed('suppressions');

-- One per e-mail with a List-Unsubscribe header, created when it is charged; the token does not reveal the address.
create table unsubscribe_links (
  token text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  address text collate "C" not null, -- lower case
  email_id text collate "C" not null,
  created_at timestamptz not null default now()
);
create index unsubscribe_links_of_address on unsubscribe_links (address);
create index unsubscribe_links_by_time on unsubscribe_links using brin (created_at) with (autosummarize = on);

-- E-mails of the service itself: monthly statements and their reminders. Ids only: text and addresses are rendered when it is sent.
create table own_emails (
  idx text collate "C" primary key check (char_length(idx) between 1 and 64), -- the idx of the e-mail, which makes it unique
  kind text not null check (kind in ('statement', 'reminder')),
  subject text collate "C" not null, -- the id of the statement
  tries integer not null default 0,
  next_try_at timestamptz default now(), -- null: done
  refusal text, -- why the last attempt was not accepted
  email_id text collate "C",
  accepted_at timestamptz,
  created_at timestamptz not null default now(),
  check ((email_id is null) = (accepted_at is null))
);
create index own_emails_due on own_emails (next_try_at) where next_try_at is not null;
create index own_emails_of_subject on own_emails (subject, created_at);

-- ---------------------------------------------------------------------------------------------------------------------
-- Webhooks

-- Events refer to their subject by kind and id, so that a new product needs no new column. Messages and e-mails have many; a link has one
-- (its first click), a reply one per interface.
create table webhook_events (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  subject_kind text not null check (subject_kind in ('message', 'link', 'inbound', 'inbound_v1', 'email', 'domain')),
  subject_id text collate "C" not null,
  type text not null,
  snapshot jsonb not null, -- fields that change after the event
  state text not null default 'pending' check (state in ('pending', 'delivered', 'exhausted')),
  exhausted_at timestamptz, -- when its last attempt failed; null once it is delivered or its attempts are deleted
  created_at timestamptz not null default clock_timestamp(),
  check (exhausted_at is null or state = 'exhausted')
);
-- Undelivered events. An index on the state of all events would slow down every delivery.
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
  answer text, -- first bytes of the response
  primary key (event_id, attempt)
);

-- Requested redeliveries of an event. The event keeps its state until one of them succeeds.
create table webhook_resends (
  event_id text collate "C" not null references webhook_events,
  round smallint not null check (round > 0),
  account_id text collate "C" not null references accounts,
  requested_by text not null check (requested_by in ('account', 'staff')),
  attempts_before smallint not null, -- attempts logged before
  state text not null default 'pending' check (state in ('pending', 'delivered', 'exhausted')),
  requested_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  primary key (event_id, round)
);
create index webhook_resends_pending on webhook_resends (account_id, requested_at) where state = 'pending';

-- ---------------------------------------------------------------------------------------------------------------------
-- Reports

-- Results of each message, aggregated as they happen, so that a report reads one more row per message. Written only by the triggers below
-- and by the counting of clicks, in the transaction of the change.
create table message_effects (
  account_id text collate "C" not null,
  created_at timestamptz not null, -- of the message
  message_id text collate "C" not null,
  refunded_grosze integer, -- null: no refund; 0: of a test message
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
  request_id text collate "C" -- null: staff or the service itself
);
create index audit_log_account on audit_log (account_id, id);
create trigger audit_append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_change();

-- Client addresses of audit records. Personal data, hence apart from the append-only log and deleted after a while. No foreign key:
-- truncating the log should fail by its own trigger.
create table audit_addresses (
  audit_id bigint primary key,
  address inet not null,
  at timestamptz not null default now()
);

-- Findings of the reconciliation. open: staff have to look at it; repaired: by the reconciliation; gone: no longer found, or dismissed.
create table findings (
  id bigint generated always as identity primary key,
  kind text not null,
  subject text collate "C" not null, -- the id of the message, look-up, request or account
  account_id text collate "C" references accounts,
  state text not null check (state in ('open', 'repaired', 'gone')),
  repairs integer not null default 0,
  details jsonb not null default '{}', -- no personal data
  first_seen_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  -- When staff dismissed it; null again once it is resolved or found again. While set, the workflow that had ended before its message is
  -- not started again.
  dismissed_at timestamptz,
  unique (kind, subject)
);
create index findings_open on findings (id) where state = 'open';

-- Last success of each scheduled activity, to detect permanent failures.
create table regular_work (
  activity text collate "C" primary key,
  schedule text not null,
  interval_seconds integer not null check (interval_seconds > 0),
  -- Before the first success: since when it is expected.
  succeeded_at timestamptz not null default now()
);

-- Positions of resumable maintenance jobs.
create table maintenance_positions (
  name text primary key,
  position text collate "C" not null,
  updated_at timestamptz not null default now()
);

-- Messages whose erasure is due but that are still open; retried daily.
create table erasures_postponed (
  message_id text collate "C" primary key references messages
);

-- Facts about this installation, such as the fingerprint of its secrets key.
create table installation (
  name text primary key,
  value text not null
);

-- ---------------------------------------------------------------------------------------------------------------------
-- State of the simulated network, used by that provider only.

create table simulator_submits (
  provider_message_id text collate "C" primary key,
  route text collate "C" not null default 'simulator',
  reference text collate "C" not null,
  channel text not null default 'sms' check (channel in ('sms', 'mms', 'vms')),
  source text,
  destination text collate "C" not null,
  encoding text not null,
  content text not null,
  options jsonb, -- content of the channel beside the text; null: none
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

-- Replies still to be delivered.
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
  mail jsonb not null, -- as submitted, without file contents
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
