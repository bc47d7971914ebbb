-- E-mail (v1.2.0, POST /v1/email): sender domains, e-mails with their recipients and contents, what providers report of them, and
-- the addresses that an account is not to write to any more.

alter table ledger_entries drop constraint ledger_entries_subject_kind_check;
alter table ledger_entries add constraint ledger_entries_subject_kind_check
  check (subject_kind in ('message', 'lookup', 'statement', 'email')) not valid;
alter table webhook_events drop constraint webhook_events_subject_kind_check;
alter table webhook_events add constraint webhook_events_subject_kind_check
  check (subject_kind in ('message', 'link', 'inbound', 'inbound_v1', 'email', 'domain')) not valid;
alter table route_rules drop constraint route_rules_type_check;
alter table route_rules add constraint route_rules_type_check check (type in ('sms', 'mms', 'vms', 'hlr', 'email'));

-- ---------------------------------------------------------------------------------------------------------------------
-- Sender domains

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
-- E-mails

create table emails (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  request_id text collate "C" not null,
  interface text not null check (interface in ('v1', 'v2')),
  -- draft: written, not yet charged; invisible to every read, and deleted where the request is refused
  status text not null default 'draft' check (status in ('draft', 'queued', 'sent', 'delivered', 'bounced', 'complained',
    'failed', 'suppressed', 'unknown')),
  submission text not null default 'waiting' check (submission in ('waiting', 'submitting', 'answered', 'unanswered')),
  route text collate "C" not null,
  provider_email_id text collate "C",
  domain text collate "C" not null, -- of the sender's address
  from_address text not null,
  from_name text,
  reply_to text,
  subject text not null,
  headers jsonb not null default '[]',
  idx text check (char_length(idx) between 1 and 64),
  unsubscribe_token text collate "C", -- of its List-Unsubscribe header
  cost_grosze bigint not null check (cost_grosze >= 0),
  test_credits smallint not null default 0 check (test_credits >= 0),
  error_code text,
  -- When a provider may first have had it: so long its idempotency key is good.
  first_submitted_at timestamptz,
  sent_at timestamptz,
  give_up_at timestamptz not null, -- when the wait for events ends
  erased_at timestamptz, -- when contents and addresses were taken out; null: they are there
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index emails_history on emails (account_id, id desc) where status <> 'draft';
create index emails_history_by_status on emails (account_id, status, id desc) where status <> 'draft';
create index emails_by_idx on emails (account_id, idx, id desc) where idx is not null and status <> 'draft';
create index emails_provider_id on emails (route, provider_email_id) where provider_email_id is not null;
create index emails_request on emails (request_id);
create index emails_waiting on emails (route) where status = 'queued';
create index emails_reports on emails (account_id, created_at, id) include (cost_grosze, status) where status <> 'draft';

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
  content bytea not null,
  primary key (email_id, number, piece),
  foreign key (email_id, number) references email_attachments on delete cascade
);
alter table email_attachment_pieces alter column content set storage external; -- most files are compressed already

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

-- ---------------------------------------------------------------------------------------------------------------------
-- Addresses that an account is not to write to any more

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

-- ---------------------------------------------------------------------------------------------------------------------
-- Money: an e-mail may be the subject of a charge and a refund

create or replace function post_ledger_entries() returns trigger language plpgsql set enable_seqscan = off as $$
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
create trigger emails_kept before delete on emails for each row execute function keep_subject();

-- Deletes e-mails that were never charged, for roles that may delete no others.
create function delete_uncharged_emails(ids text[]) returns bigint language plpgsql security definer
  set search_path = pg_catalog, public, pg_temp as $$
declare
  deleted bigint;
begin
  delete from public.emails where id = any(ids) and status = 'draft';
  get diagnostics deleted = row_count;
  return deleted;
end $$;

-- ---------------------------------------------------------------------------------------------------------------------
-- The simulated network's own memory

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
