-- How much a send through an assistant's tool may reach and cost before somebody has to agree, where the account wants it lower than
-- the installation does; null: as the installation has it.
alter table accounts
  add column tool_confirm_recipients integer check (tool_confirm_recipients >= 0),
  add column tool_confirm_grosze integer check (tool_confirm_grosze >= 0);

-- What calls of tools with this key may charge in a Polish calendar day, grosze net; null: whatever the balance covers.
alter table api_keys add column tool_budget_grosze bigint check (tool_budget_grosze >= 0);

-- What they have charged, or may still charge, of keys that had a budget.
create table tool_spending (
  key_id text collate "C" not null references api_keys,
  day date not null, -- in Poland
  grosze bigint not null check (grosze >= 0),
  primary key (key_id, day)
) with (fillfactor = 50);
create index tool_spending_days on tool_spending (day);

-- The part of it that nobody has settled yet: gone as soon as its request or look-up is known to be charged, or given back.
create table tool_reservations (
  id text collate "C" primary key, -- of the request, or of the look-up
  key_id text collate "C" not null,
  day date not null,
  grosze bigint not null check (grosze > 0),
  made_at timestamptz not null default now(),
  foreign key (key_id, day) references tool_spending on delete cascade
);
create index tool_reservations_of_day on tool_reservations (key_id, day);
