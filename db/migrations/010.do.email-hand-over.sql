-- Hand-overs of e-mails: whose an answer is, and addresses that come onto the suppression list while an e-mail waits.

alter table emails
  add column claims integer not null default 0, -- how often it was about to leave: names the try that an answer belongs to
  add column left_out smallint not null default 0 check (left_out >= 0); -- addresses that were charged and suppressed before it left

-- What was charged for them is given back when it is known what becomes of the rest; where nothing is left of it, or it fails, all of it
-- is, so that an e-mail is refunded once. By a trigger, as answers and events may both be what proves that it was taken.
create function refund_left_out() returns trigger language plpgsql as $$
begin
  insert into ledger_entries (account_id, kind, amount_grosze, test_credits, subject_kind, subject_id)
  select c.account_id, 'refund', -c.amount_grosze * new.left_out / p.paid, -c.test_credits * new.left_out / p.paid, 'email', new.id
    from ledger_entries c
    cross join (select new.left_out + count(*) filter (where state <> 'suppressed') as paid
                  from email_recipients where email_id = new.id) p
   where c.subject_id = new.id and c.kind = 'charge'
  on conflict (subject_id, kind) where subject_id is not null do nothing;
  return null;
end $$;
create trigger emails_left_out after update of status on emails
  for each row when (new.left_out > 0 and old.status = 'queued' and new.status not in ('queued', 'failed', 'suppressed'))
  execute function refund_left_out();
