-- What somebody wrote to a return path, which everybody knows who got the e-mail: it says less than what a provider says itself.
alter table provider_email_events add column hearsay boolean not null default false;

-- Nobody's address, which a complaint about an erased e-mail left there.
delete from suppressions where address = '***';
