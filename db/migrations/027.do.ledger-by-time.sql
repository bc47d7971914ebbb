-- Each statement by itself.
-- What a month's statement sums is found however long the account's ledger is.
create index concurrently if not exists ledger_sums on ledger_entries (account_id, created_at) where kind in ('charge', 'refund');
