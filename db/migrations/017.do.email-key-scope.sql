-- The provider's account that knows what became of the first try; null: of before, or a provider with one account.
alter table emails add column key_scope text;
