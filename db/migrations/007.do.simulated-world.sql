-- What phones and mailboxes of the simulated network received is read by phone, mailbox and time.
alter table simulator_submits
  add column received boolean not null default true; -- false: the phone could not be reached
create index simulator_submits_of_phone on simulator_submits (destination, received_at desc);
create index simulator_submits_by_time on simulator_submits (received_at);
create index simulator_emails_reference on simulator_emails (reference);
-- Phones that are switched off: nothing reaches them.
create table simulator_phones_off (
  msisdn text collate "C" primary key,
  since timestamptz not null default now()
);
