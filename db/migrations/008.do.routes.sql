-- The ways to the operators: routes and the rules that choose between them, what is seen of them, replies in segments.

create table routes (
  name text collate "C" primary key check (name ~ '^[a-z][a-z0-9-]{0,30}$'),
  kind text not null check (kind in ('simulator', 'smpp', 'smsapi')),
  -- draining: gets no new messages, sends those it has; disabled: sends nothing
  state text not null default 'active' check (state in ('active', 'draining', 'disabled')),
  settings jsonb not null default '{}',
  credentials bytea, -- encrypted
  rate_per_second integer check (rate_per_second > 0), -- parts; null: no limit of the operator's
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
  type text check (type in ('sms', 'mms', 'vms', 'hlr')),
  priority boolean,
  weight integer not null default 100 check (weight between 1 and 1000000),
  unique nulls not distinct (route, prefix, account_id, type, priority)
);

-- All traffic goes to the simulated network until the operator adds a route.
insert into routes (name, kind) values ('simulator', 'simulator');
insert into route_rules (route) values ('simulator');

-- What is seen of a route while it runs. Lost in a crash of the database, all of it comes anew within a second.
create unlogged table route_states (
  route text collate "C" primary key,
  working_at timestamptz,  -- when messages last got through, as far as is known
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

create index messages_waiting on messages (carrier) where status = 'queued';

-- The number that joins the parts of a long message; taken at its first submit, kept for all tries.
alter table messages add concat_reference integer;
create table concat_references (
  recipient text collate "C" primary key,
  last integer not null
);

alter table message_parts
  add answer_code text, -- what the SMSC said, where it did not take the part
  add resubmitted_at timestamptz; -- by the operator, while nobody knew whether the SMSC has it
create index message_parts_unanswered on message_parts (carrier, submitted_at) where state = 'unanswered';

alter table delivery_reports
  add alternative_id text collate "C", -- the id read in the other way the route's rule allows
  add phone text collate "C",          -- E.164 with plus: whom it speaks of
  add details text,                    -- the report as it came, without the message's text
  add look_at timestamptz;             -- when to look for its part again; null: applied, or left to the operator
update delivery_reports set look_at = now() where applied_at is null and received_at > now() - interval '1 day';
alter table delivery_reports alter look_at set default now();
create index delivery_reports_due on delivery_reports (look_at, id) where look_at is not null;
create index delivery_reports_by_phone on delivery_reports (carrier, phone, id) where look_at is not null;
create index delivery_reports_alternative on delivery_reports (carrier, alternative_id)
  where look_at is not null and alternative_id is not null;
drop index delivery_reports_received;

-- Segments of long replies until all of them are here, or their time is over.
create table reply_segments (
  carrier text collate "C" not null,
  sender text collate "C" not null,
  receiver text collate "C" not null,
  reference text collate "C" not null, -- as the SMSC numbers what belongs together
  number smallint not null check (number between 1 and 255),
  total smallint not null check (total between 1 and 255),
  encoding text not null check (encoding in ('gsm7', 'ucs2', 'latin1')),
  content bytea not null,
  received_at timestamptz not null default clock_timestamp(),
  joined_at timestamptz, -- kept for a while after, so that a segment handed over again is known
  primary key (carrier, sender, receiver, reference, total, number)
);
create index reply_segments_open on reply_segments (received_at) where joined_at is null;

-- Callbacks of HTTP providers that answer a look-up some time after it was asked.
create table lookup_answers (
  carrier text collate "C" not null,
  provider_id text collate "C" not null,
  answer jsonb not null,
  received_at timestamptz not null default now(),
  primary key (carrier, provider_id)
);

-- There may be several simulated routes.
alter table simulator_submits add carrier text collate "C" not null default 'simulator';
alter table simulator_reports add carrier text collate "C" not null default 'simulator';
alter table simulator_replies add carrier text collate "C" not null default 'simulator';
drop index simulator_reports_due;
create index simulator_reports_due on simulator_reports (carrier, due_at);
