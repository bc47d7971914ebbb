-- What e-mails take of their account's quotas, also where many come at once: from the draft on.
alter table emails add column file_bytes bigint not null default 0 check (file_bytes >= 0); -- octets of its files
update emails e
   set file_bytes = (select coalesce(sum(f.bytes), 0) from email_attachments f where f.email_id = e.id)
 where e.status = 'queued';
create index emails_with_files on emails (account_id) include (file_bytes, created_at) where file_bytes > 0 and status in ('draft', 'queued');
create index emails_unpaid_drafts on emails (account_id, created_at) where cost_grosze = 0 and status = 'draft';
