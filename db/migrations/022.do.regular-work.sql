-- When each step of the regular work last succeeded, so that work that fails for good is seen.
create table regular_work (
  activity text collate "C" primary key,
  schedule text not null,
  interval_seconds integer not null check (interval_seconds > 0),
  -- Before its first success: since when it is expected.
  succeeded_at timestamptz not null default now()
);
