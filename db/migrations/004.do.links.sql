-- Tracked links and their clicks.

create table tracked_links (
  id bigint generated always as identity primary key,
  token text collate "C" not null unique,
  account_id text collate "C" not null references accounts,
  recipient text collate "C" not null,
  url text not null,
  clicks integer not null default 0,
  first_click_at timestamptz,
  last_click_at timestamptz,
  created_at timestamptz not null default now(),
  unique (account_id, recipient, url)
);
create index tracked_links_of_account on tracked_links (account_id, id desc);
create index tracked_links_clicked on tracked_links (account_id, id desc) where clicks > 0;

-- Which messages carry a link; written with their drafts.
create table message_links (
  message_id text collate "C" not null references messages,
  token text collate "C" not null references tracked_links (token),
  primary key (message_id, token)
);
create index message_links_of_token on message_links (token, message_id desc);

-- A click is stored as it comes; counted_at is null until its workflow has counted it.
create table link_clicks (
  id text collate "C" primary key,
  token text collate "C" not null references tracked_links (token),
  clicked_at timestamptz not null default clock_timestamp(),
  user_agent text,
  ip_hash bytea, -- keyed hash of the shortened address
  robot boolean not null,
  counted_at timestamptz
);
create index link_clicks_of_token on link_clicks (token, clicked_at desc);
create index link_clicks_uncounted on link_clicks (clicked_at) where counted_at is null;

alter table webhook_events add link_token text collate "C" references tracked_links (token);
create unique index webhook_events_once_per_link on webhook_events (link_token) where link_token is not null;
