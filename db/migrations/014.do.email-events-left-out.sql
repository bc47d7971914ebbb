-- Opens, clicks and reports by e-mail of an e-mail beyond those that are kept.
alter table emails add column events_left_out bigint not null default 0 check (events_left_out >= 0);
