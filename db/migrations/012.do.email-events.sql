-- Of events whose addresses are all that the e-mail has in `to`, whomever they are about.
alter table provider_email_events add column names_all_to boolean not null default false;
