-- Each statement by itself.
-- Those that were there before, in the order of their ids, as all who lock several do.
update outcome_signals s set account_id = m.account_id, priority = m.priority
  from (select id, message_id from outcome_signals where account_id is null order by id for no key update) o
       join messages m on m.id = o.message_id
 where s.id = o.id;
-- Also those that somebody has taken: few, and taken up again in their turn where he has died.
create index concurrently if not exists outcome_signals_next on outcome_signals (account_id, priority desc, id);
