-- What a message of the earlier interface (v1.2.0) remembers, the webhooks of that interface and its history.

alter table accounts
  add column legacy_proxy boolean not null default false, -- not migrated: its balance is the upstream's, and it has no history
  add column legacy_webhook_url text,
  add column legacy_webhook_secret bytea; -- encrypted

alter table messages
  add column interface text not null default 'v2' check (interface in ('v1', 'v2')), -- which one sent it
  add column idx text check (char_length(idx) between 1 and 255), -- the caller's identifier, of the earlier one
  -- Its place in the history of the earlier interface: the second in which it was taken up for sending × 10^6, plus a number
  -- that no other message of that second has. Null: it waits for its send time, or is of before this migration.
  add column sent_key bigint;

-- What the history tells apart, see domain/earlierStatus.ts; a test compares the two.
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
create trigger messages_sent_key before update of status on messages
  for each row when (old.status in ('draft', 'scheduled') and new.status not in ('draft', 'scheduled'))
  execute function take_sent_key();

-- A reply has an event of each interface. The check on those that there are is the one that they have passed already.
alter table webhook_events drop constraint webhook_events_subject_kind_check;
alter table webhook_events add constraint webhook_events_subject_kind_check
  check (subject_kind in ('message', 'link', 'inbound', 'inbound_v1')) not valid;
create unique index webhook_events_once_v1 on webhook_events (subject_id) where subject_kind = 'inbound_v1';
