-- What the API writes of money: whoever gets into it makes none. Workers and the command line do.
create function guard_ledger() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  if new.kind = 'opening' and new.amount_grosze = 0 then return new; end if;
  if new.kind = 'refund' and exists (
    select from ledger_entries c
     where c.subject_id = new.subject_id and c.kind = 'charge'
       and new.amount_grosze <= -c.amount_grosze and new.test_credits <= -c.test_credits)
  then
    return new;
  end if;
  raise exception 'the API writes no such entries' using errcode = 'insufficient_privilege';
end $$;
create trigger ledger_guard before insert on ledger_entries
  for each row when (current_user = 'goniec_api' and new.kind <> 'charge') execute function guard_ledger();

-- Not valid, to be quick: no charge was ever a credit.
alter table ledger_entries add constraint ledger_entries_charge_check
  check (kind <> 'charge' or (amount_grosze <= 0 and test_credits <= 0)) not valid;

create function guard_payments() returns trigger language plpgsql as $$
begin
  raise exception 'the API starts payments by a payer alone' using errcode = 'insufficient_privilege';
end $$;
create trigger payments_guard before insert on payments
  for each row when (current_user = 'goniec_api' and (new.automatic or new.state <> 'starting' or new.reference is not null))
  execute function guard_payments();

-- As domain/vat.ts: half a grosz up.
alter table payments add constraint payments_vat_check check (vat_grosze = (net_grosze * 23 + 50) / 100);

-- Cards that processors keep: the API may read and forget them.
create table kept_cards (
  account_id text collate "C" primary key references automatic_top_ups on delete cascade,
  processor text not null,
  customer text not null,
  method text not null,
  brand text not null,
  last4 text not null check (char_length(last4) <= 4)
);
insert into kept_cards select account_id, processor, customer, method, brand, last4 from automatic_top_ups where method is not null;
alter table automatic_top_ups
  drop column processor, drop column customer, drop column method, drop column brand, drop column last4;

-- The card that was asked for: where the answer is lost, the same is asked again, whatever card is kept by then.
alter table payments add column charged_customer text, add column charged_method text,
  add check ((charged_customer is null) = (charged_method is null));

-- What staff set as price per part; null: nothing. set_terms may set it again.
alter table accounts add column agreed_price_grosze integer;
create or replace function set_terms(given text, price integer, sends_live boolean) returns void
  language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  update accounts
     set price_per_part_grosze = price, mode = case when sends_live then 'live' else 'test' end, updated_at = now()
   where id = given and (price in (price_per_part_grosze, agreed_price_grosze) or price between 10 and 15);
$$;
