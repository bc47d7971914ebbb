-- Few accounts have a former secret, and whether its time is over is asked every ten seconds.
create index accounts_former_secret on accounts (webhook_secret_changed_at) where webhook_secret_before is not null;
