-- What staff move in the console by themselves: many small amounts come to a second person, too.
create table moved_by_staff (
  staff_id text collate "C" not null references staff on delete cascade,
  grosze bigint not null check (grosze > 0),
  at timestamptz not null default now()
);
create index moved_by_staff_of_staff on moved_by_staff (staff_id, at);
