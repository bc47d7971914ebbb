-- Since when an account is postpaid: what it was charged before, it has paid for, and is in no statement. Null: always, or prepaid.
alter table accounts add column postpaid_since timestamptz;
