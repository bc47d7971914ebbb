-- Which request of the API an entry of the audit log tells of; null: an operator's command, or the service itself.
alter table audit_log add request_id text collate "C";

-- From where such a request came. Personal data, so apart from the log that nobody can change, and deleted with the other logs.
-- No foreign key: it would give the log's own refusal to be emptied another reason.
create table audit_addresses (
  audit_id bigint primary key,
  address inet not null,
  at timestamptz not null default now()
);
