-- One statement, so that it may commit: messages are submitted meanwhile. Begun again after an interruption, it goes on.
do $do$
declare
  done text collate "C" := '';
  upto text collate "C";
begin
  create or replace trigger messages_answerable_links after update of status, submission on messages
    for each row when (is_answerable(old.status, old.submission) <> is_answerable(new.status, new.submission))
    execute function note_answerable();
  -- From here on every change is noted, whatever release makes it. What was there before is gone through by thousands.
  commit;
  loop
    select max(message_id) into upto
      from (select message_id from message_links where message_id > done order by message_id limit 1000) l;
    exit when upto is null;
    -- Locked, so that none ceases to be answerable between its being read and its being noted.
    with answerable as materialized (
      select m.id, coalesce(m.send_at, m.created_at) as at from messages m
       where m.id in (select message_id from message_links where message_id > done and message_id <= upto)
         and is_answerable(m.status, m.submission)
       order by m.id for no key update
    )
    update message_links l set answerable_at = a.at
      from answerable a
     where l.message_id = a.id and l.message_id > done and l.message_id <= upto and l.answerable_at is null;
    commit;
    done := upto;
  end loop;

  create or replace function message_of_click(link text, clicked timestamptz) returns text language sql stable as $$
    select message_id from message_links
     where token = link and answerable_at <= clicked
     order by answerable_at desc, message_id desc limit 1
  $$;
end $do$;
