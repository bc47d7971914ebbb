-- The send pipeline: accounts and keys, messages and their parts, the ledger, delivery reports, webhooks.
-- Money is whole grosze, net. Ids are compared bytewise, so that their order is the order of their making.

create table accounts (
  id text collate "C" primary key,
  name text not null,
  status text not null default 'active' check (status in ('active', 'suspended', 'closed')),
  mode text not null default 'test' check (mode in ('test', 'live')),
  billing_mode text not null default 'prepaid' check (billing_mode in ('prepaid', 'postpaid')),
  balance_grosze bigint not null default 0,
  credit_limit_grosze bigint not null default 0 check (credit_limit_grosze >= 0),
  test_credits integer not null default 0 check (test_credits >= 0),
  price_per_part_grosze integer not null default 15 check (price_per_part_grosze >= 0),
  price_per_mms_grosze integer not null default 60 check (price_per_mms_grosze >= 0),
  price_per_vms_grosze integer not null default 40 check (price_per_vms_grosze >= 0),
  price_per_hlr_grosze integer not null default 5 check (price_per_hlr_grosze >= 0),
  country_rates jsonb not null default '{}',
  rate_limit_per_minute integer not null default 120 check (rate_limit_per_minute > 0),
  sender_name text,
  send_window text,
  webhook_url text,
  webhook_secret bytea, -- encrypted
  inbound_number text,
  inbound_prefix text unique,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table api_keys (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  hash bytea not null unique, -- SHA-256 of the whole key
  hint text not null,         -- prefix and last four characters, for people
  mode text not null check (mode in ('test', 'live')),
  scopes text[] not null check (scopes <@ array['send', 'read', 'manage']),
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  revoked_at timestamptz
);
create index api_keys_account on api_keys (account_id);

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

-- Losing this table in a crash costs nobody anything: it counts requests of the last minute.
create unlogged table rate_windows (
  account_id text collate "C" primary key,
  started_at timestamptz not null,
  used integer not null
);

create table messages (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  request_id text collate "C" not null,
  batched boolean not null default false,
  type text not null default 'sms' check (type in ('sms', 'mms', 'vms')),
  -- draft: written, not yet charged; refused: never charged, never sent. Both are invisible to every read.
  status text not null default 'draft' check (status in ('draft', 'refused', 'scheduled', 'queued', 'sent',
    'delivered', 'undelivered', 'failed', 'rejected', 'expired', 'cancelled')),
  accepted_as text not null check (accepted_as in ('scheduled', 'queued', 'rejected')),
  refusal text, -- why a draft was refused: insufficient_funds, abandoned, too_late
  recipient text collate "C" not null,
  sender text,
  text text not null,
  parts smallint not null check (parts > 0),
  cost_grosze bigint not null check (cost_grosze >= 0),
  test_credits smallint not null default 0 check (test_credits >= 0),
  priority boolean not null default false,
  reference text,
  send_at timestamptz,              -- as shown: null for a message sent at once
  expires_at timestamptz,           -- as asked for
  give_up_at timestamptz not null,  -- when the wait for a delivery report ends
  carrier text not null,
  submission text not null default 'waiting' check (submission in ('waiting', 'under way', 'answered', 'unanswered')),
  error_code text,
  delivered_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index messages_history on messages (account_id, id desc) where status not in ('draft', 'refused');
create index messages_history_by_status on messages (account_id, status, id desc) where status not in ('draft', 'refused');
create index messages_history_by_recipient on messages (account_id, recipient, id desc) where status not in ('draft', 'refused');
create index messages_history_by_reference on messages (account_id, reference, id desc)
  where reference is not null and status not in ('draft', 'refused');
create index messages_request on messages (request_id, id);
create index messages_unanswered on messages (created_at) where submission = 'unanswered';

create function check_message_transition() returns trigger language plpgsql as $$
begin
  if (old.status, new.status) not in (
    ('draft', 'scheduled'), ('draft', 'queued'), ('draft', 'rejected'), ('draft', 'refused'),
    ('scheduled', 'queued'), ('scheduled', 'cancelled'),
    ('queued', 'sent'), ('queued', 'failed'), ('queued', 'expired'),
    ('sent', 'delivered'), ('sent', 'undelivered'), ('sent', 'failed'), ('sent', 'expired')
  ) then
    raise exception 'message % cannot move from % to %', old.id, old.status, new.status using errcode = 'GN409';
  end if;
  return new;
end $$;
create trigger messages_transition before update of status on messages
  for each row when (old.status is distinct from new.status) execute function check_message_transition();

-- One submit to the SMSC. `under way` is written before the submit leaves: found again after a crash it means
-- that nobody knows whether the SMSC has it, and it is not sent again.
create table message_parts (
  message_id text collate "C" not null references messages,
  part smallint not null,
  state text not null check (state in ('under way', 'held', 'accepted', 'refused', 'unanswered')),
  tries integer not null default 1,
  carrier text not null,
  carrier_message_id text collate "C",
  submitted_at timestamptz not null default now(),
  answered_at timestamptz,
  report_state text,
  reported_at timestamptz,
  primary key (message_id, part)
);
create index message_parts_carrier_id on message_parts (carrier, carrier_message_id) where carrier_message_id is not null;

-- What carriers reported, kept as it came; applied_at is null until it met its part.
create table delivery_reports (
  id bigint generated always as identity primary key,
  carrier text not null,
  carrier_message_id text collate "C" not null,
  message_id text collate "C", -- where the carrier returned our reference; as told, so no foreign key
  part smallint,
  state text not null,
  error_code text,
  received_at timestamptz not null default now(),
  applied_at timestamptz
);
create index delivery_reports_unapplied on delivery_reports (carrier, carrier_message_id) where applied_at is null;
create index delivery_reports_received on delivery_reports (received_at) where applied_at is null;

-- Outcomes that a workflow has still to be told; written with the outcome, deleted once signalled.
create table outcome_signals (
  id bigint generated always as identity primary key,
  message_id text collate "C" not null references messages,
  status text not null,
  event_ids text[] not null,
  created_at timestamptz not null default now()
);

create table ledger_entries (
  id bigint generated always as identity primary key,
  account_id text collate "C" not null references accounts,
  kind text not null check (kind in ('opening', 'topup', 'charge', 'refund', 'adjustment', 'payment')),
  amount_grosze bigint not null,
  test_credits integer not null default 0,
  message_id text collate "C" references messages,
  note text,
  created_at timestamptz not null default now(),
  check (kind not in ('charge', 'refund') or message_id is not null)
);
create unique index ledger_once_per_message on ledger_entries (message_id, kind) where message_id is not null;
create index ledger_of_account on ledger_entries (account_id, id);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name;
end $$;
create trigger ledger_append_only before update or delete or truncate on ledger_entries
  for each statement execute function refuse_change();

-- The balance moves here and nowhere else, in the statement that writes the entries.
create function post_ledger_entries() returns trigger language plpgsql as $$
begin
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

create table idempotency_keys (
  account_id text collate "C" not null references accounts,
  key text collate "C" not null,
  fingerprint bytea not null, -- SHA-256 of method, path and body
  request_id text collate "C" not null unique,
  state text not null default 'open' check (state in ('open', 'accepted', 'refused')),
  accepted_status smallint not null,
  accepted_body jsonb not null, -- the answer if the request is accepted; known before the charge decides
  lease_until timestamptz not null,
  created_at timestamptz not null default now(),
  primary key (account_id, key)
);

create table webhook_events (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  message_id text collate "C" references messages,
  type text not null,
  snapshot jsonb not null, -- what was true at the event and changes later
  state text not null default 'pending' check (state in ('pending', 'delivered', 'exhausted')),
  created_at timestamptz not null default clock_timestamp()
);
create index webhook_events_message on webhook_events (message_id);
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

create table audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  actor text not null,
  action text not null,
  account_id text collate "C",
  subject text,
  details jsonb not null default '{}'
);
create index audit_log_account on audit_log (account_id, id);
create trigger audit_append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_change();

-- Single facts about this installation, such as the fingerprint of its secrets key.
create table installation (
  name text primary key,
  value text not null
);

-- The simulated SMSC's own memory. Nothing of the service reads it but the simulated carrier.
create table simulator_submits (
  carrier_message_id text collate "C" primary key,
  reference text collate "C" not null,
  source text,
  destination text collate "C" not null,
  encoding text not null,
  content text not null,
  part smallint not null,
  parts smallint not null,
  priority boolean not null,
  received_at timestamptz not null default clock_timestamp()
);
create index simulator_submits_reference on simulator_submits (reference);
create table simulator_throttles (
  reference text collate "C" primary key,
  refused integer not null
);
create table simulator_reports (
  id bigint generated always as identity primary key,
  carrier_message_id text collate "C" not null,
  reference text collate "C" not null,
  state text not null,
  due_at timestamptz not null
);
create index simulator_reports_due on simulator_reports (due_at);
