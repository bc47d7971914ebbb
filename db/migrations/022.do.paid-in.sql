-- Each statement by itself.
-- What was paid in fixes the price per part: a refund reads it again, however long the ledger is.
create index concurrently if not exists ledger_paid_in on ledger_entries (account_id) where kind in ('topup', 'opening');
