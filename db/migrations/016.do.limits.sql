-- What one account cannot take from others, nor fill up: common words as keywords, and rows for floods of clicks.

-- Everyday words and numbers that the operator lets an account have as its keyword.
create table allowed_keywords (
  account_id text collate "C" not null references accounts,
  word text collate "C" not null,
  allowed_at timestamptz not null default now(),
  primary key (account_id, word)
);

-- A keyword that was given up rests for 30 days: until then nobody has it but its former owner.
create table resting_keywords (
  word text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  given_up_at timestamptz not null default now()
);
create index resting_keywords_of_account on resting_keywords (account_id);

-- A closed account receives nothing: its keyword is given up.
create function give_keyword_up() returns trigger language plpgsql as $$
begin
  new.inbound_prefix := null;
  return new;
end $$;
create trigger accounts_closed before update of status on accounts
  for each row when (new.status = 'closed' and new.inbound_prefix is not null) execute function give_keyword_up();

-- Whatever changes a keyword: the one before begins to rest, and one that rests is not to be had. This comes after the
-- unique index, which lets one account at a time hold a word, so that what the holder before has left is seen. Whoever
-- takes one word after the other could keep them all from everybody: five may rest of one account when it takes another.
create function keep_keywords() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.inbound_prefix is not null then
    delete from resting_keywords where account_id = new.id and given_up_at <= now() - interval '30 days';
    insert into resting_keywords (word, account_id) values (old.inbound_prefix, new.id)
    on conflict (word) do update set account_id = excluded.account_id, given_up_at = excluded.given_up_at;
  end if;
  if new.inbound_prefix is not null then
    delete from resting_keywords
     where word = new.inbound_prefix and (account_id = new.id or given_up_at <= now() - interval '30 days');
    if exists (select from resting_keywords where word = new.inbound_prefix) then
      raise exception using errcode = 'GN423', message = 'the keyword rests';
    end if;
    if (select count(*) from resting_keywords
         where account_id = new.id and given_up_at > now() - interval '30 days') > 5 then
      raise exception using errcode = 'GN429', message = 'too many keywords of the account rest';
    end if;
  end if;
  return null;
end $$;
create trigger accounts_keyword_taken after insert on accounts
  for each row when (new.inbound_prefix is not null) execute function keep_keywords();
create trigger accounts_keyword_changed after update on accounts
  for each row when (old.inbound_prefix is distinct from new.inbound_prefix) execute function keep_keywords();

update accounts set inbound_prefix = null where status = 'closed' and inbound_prefix is not null;

-- Of a link's clicks those that were counted without a row of their own: too many within a minute.
alter table tracked_links add unlogged_clicks integer not null default 0;

-- Rows that an account's links took in a minute, beyond each link's first click.
create table click_windows (
  account_id text collate "C" primary key references accounts,
  started_at timestamptz not null,
  used integer not null
);

-- The message that brought somebody to a link (see 007): the last by its send time of those that the network was given.
create function message_of_click(link text, clicked timestamptz) returns text language sql stable as $$
  select m.id
    from message_links l join messages m on m.id = l.message_id
   where l.token = link and m.status in ('queued', 'sent', 'delivered', 'undelivered', 'expired')
     and not (m.status = 'expired' and m.submission = 'waiting')
     and coalesce(m.send_at, m.created_at) <= clicked
   order by coalesce(m.send_at, m.created_at) desc, m.id desc limit 1
$$;
create or replace function attribute_click() returns trigger language plpgsql as $$
begin
  select m.account_id, m.id into new.account_id, new.message_id
    from messages m where m.id = message_of_click(new.token, new.clicked_at);
  return new;
end $$;

-- So many rows an account may still have in this minute, at most `wanted`; they are taken.
create function take_click_rows(account text, wanted integer, per_minute integer) returns integer language plpgsql as $$
declare
  before integer;
  granted integer;
begin
  insert into click_windows (account_id, started_at, used) values (account, clock_timestamp(), 0) on conflict do nothing;
  select case when started_at <= clock_timestamp() - interval '60 s' then 0 else used end into before
    from click_windows where account_id = account for update;
  granted := greatest(least(wanted, per_minute - before), 0);
  update click_windows
     set used = before + granted,
         started_at = case when started_at <= clock_timestamp() - interval '60 s' then clock_timestamp() else started_at end
   where account_id = account and (granted > 0 or used <> before);
  return granted;
end $$;

-- Takes hits on links, `{token: [{id, user_agent, ip_hash, robot}]}` in the order of their coming: each gets a row, as far
-- as the bounds of the last minute go, or is only counted. A link's first hit always gets its row. Nobody waits here
-- for a link that somebody else has locked: it is answered without `kept`, to be asked for again. Accounts are gone
-- through in order, so that two calls never wait for each other.
create function keep_clicks(hits jsonb, per_network integer, per_link integer, per_account integer)
  returns table (link_token text, target text, owner text, kept text[])
language plpgsql as $$
declare
  link record;
  is_first boolean;
  wanted text[];
  logged integer;
  unlogged integer;
  robots integer;
  message text;
  done text[] := '{}';
begin
  for link in
    select l.token, l.url, l.account_id from tracked_links l
     where l.token in (select jsonb_object_keys(hits))
     order by l.account_id, l.token for no key update skip locked
  loop
    is_first := not exists (select from link_clicks c where c.token = link.token);
    with recent as (
      select c.ip_hash, count(*) as rows from link_clicks c
       where c.token = link.token and c.clicked_at > clock_timestamp() - interval '60 s' group by c.ip_hash
    ), numbered as (
      select h.hit->>'id' as id, h.nr,
             row_number() over (partition by h.hit->>'ip_hash' order by h.nr) + coalesce(r.rows, 0) as of_network
        from jsonb_array_elements(hits->link.token) with ordinality as h(hit, nr)
        left join recent r on encode(r.ip_hash, 'hex') is not distinct from h.hit->>'ip_hash'
    ), let_in as (
      select id, nr, row_number() over (order by nr) + (select coalesce(sum(rows), 0) from recent) as of_link
        from numbered where of_network <= per_network
    )
    select coalesce(array_agg(id order by nr), '{}') into wanted from let_in where of_link <= per_link;
    logged := cardinality(wanted);
    if jsonb_array_length(hits->link.token) > is_first::integer then
      logged := is_first::integer + take_click_rows(link.account_id, logged - is_first::integer, per_account);
    end if;
    wanted := wanted[1:logged];
    insert into link_clicks (id, token, clicked_at, user_agent, ip_hash, robot)
    select hit->>'id', link.token, clock_timestamp(), hit->>'user_agent', decode(hit->>'ip_hash', 'hex'),
           (hit->>'robot')::boolean
      from jsonb_array_elements(hits->link.token) with ordinality as h(hit, nr)
     where hit->>'id' = any(wanted) order by nr;
    select count(*), count(*) filter (where (hit->>'robot')::boolean) into unlogged, robots
      from jsonb_array_elements(hits->link.token) as h(hit) where hit->>'id' <> all(wanted);
    if unlogged > 0 then
      update tracked_links l
         set clicks = l.clicks + unlogged, unlogged_clicks = l.unlogged_clicks + unlogged,
             first_click_at = least(l.first_click_at, clock_timestamp()),
             last_click_at = greatest(l.last_click_at, clock_timestamp())
       where l.token = link.token;
      message := message_of_click(link.token, clock_timestamp());
      if message is not null then
        perform add_effects(message, null, unlogged, robots, 0, 0, 0);
      end if;
    end if;
    done := done || link.token;
    link_token := link.token;
    target := link.url;
    owner := link.account_id;
    kept := wanted;
    return next;
  end loop;
  return query
    select l.token, null::text, null::text, null::text[] from tracked_links l
     where l.token in (select jsonb_object_keys(hits)) and l.token <> all(done);
end $$;
