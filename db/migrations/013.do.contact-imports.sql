-- A table of contacts on its way into the address book, and what became of it: one for an account, for a day.
create table contact_imports (
  id text collate "C" primary key,
  account_id text collate "C" not null unique references accounts,
  name text not null check (char_length(name) <= 100), -- of the file
  header jsonb, -- cells of the first row; null: the file has none
  lines int, -- rows of contacts; null: the file has not arrived as a whole
  columns jsonb, -- what each column is; null: not said yet
  created int not null default 0,
  updated int not null default 0,
  failed int not null default 0,
  created_at timestamptz not null default now()
);

create table contact_import_rows (
  import_id text collate "C" not null references contact_imports on delete cascade,
  position int not null, -- from 0
  line int not null, -- of the file, from 1
  cells jsonb not null,
  problem jsonb, -- why it was refused
  primary key (import_id, position)
);
create index contact_import_rows_failed on contact_import_rows (import_id, position) where problem is not null;
