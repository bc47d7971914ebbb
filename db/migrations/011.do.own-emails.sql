-- E-mails of the service itself: monthly statements, reminders of them, and findings that staff have to look at.

alter table accounts add column contact_email text; -- where its statements go; null: nowhere

-- What is to be e-mailed and what became of it, ids alone: words and addresses are made when it is sent.
create table own_emails (
  idx text collate "C" primary key check (char_length(idx) between 1 and 64), -- the e-mail's own idx, by which it is sent once
  kind text not null check (kind in ('statement', 'reminder', 'findings')),
  subject text collate "C" not null, -- the statement; of findings itself
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
create index own_emails_of_findings on own_emails (created_at) where kind = 'findings';

-- The own e-mail that told staff of a finding since it is open; null: none did.
alter table findings add column told_by text collate "C";
create index findings_told_by on findings (told_by) where told_by is not null;
