-- What staff do to many things at a time: a workflow with the bulk's id acts on its items one by one.
create table bulks (
  id text collate "C" primary key,
  action text not null check (action in ('cancel', 'resubmit', 'give-up', 'resend', 'dismiss')),
  actor text not null, -- staff
  grounds jsonb not null, -- the reason, where one was asked for: for the audit log
  filter jsonb not null, -- what its items were found by; {}: by their ids
  created_at timestamptz not null default now(),
  stopped_at timestamptz, -- the remaining items stay as they are
  ended_at timestamptz
);
create index bulks_open on bulks (created_at) where ended_at is null;

create table bulk_items (
  bulk_id text collate "C" not null references bulks on delete cascade,
  item text collate "C" not null, -- id of a message, a webhook event, a finding
  position int not null,
  taken boolean not null default false, -- before it is acted on: it gets its outcome, stopped or not
  outcome text check (outcome in ('done', 'refused', 'unknown')), -- null: not acted on yet; unknown: it may still be carried out
  why jsonb, -- the refusal
  at timestamptz,
  primary key (bulk_id, item)
);
create index bulk_items_open on bulk_items (bulk_id, position) where outcome is null;

alter table reservations drop constraint reservations_kind_check,
  add constraint reservations_kind_check
    check (kind in ('message', 'email', 'lookup', 'reply', 'event', 'resend', 'payment', 'bulk')) not valid;
