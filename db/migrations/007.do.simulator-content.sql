-- What the simulated network was given beside the text: an SMS's class, an MMS's subject, a call's voice and tries.
alter table simulator_submits
  add column channel text not null default 'sms' check (channel in ('sms', 'mms', 'vms')),
  add column options jsonb; -- as the message's `content`; null: nothing
