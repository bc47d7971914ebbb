-- Events that were delivered again as often as they may be are nothing that anybody can unstick. However many of them there are, none
-- is read to find the others.
alter table webhook_exhausted add column used_up boolean not null default false;
update webhook_exhausted x set used_up = true
 where (select count(*) from webhook_resends r where r.event_id = x.event_id) >= 10;
create index webhook_exhausted_to_resend on webhook_exhausted (account_id, event_id desc) where not used_up;
