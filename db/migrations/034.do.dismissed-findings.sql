-- When staff dismissed a finding: until what it is about is seen to be well, or it is found again. A message whose workflow had ended
-- before it is not started again because of that.
alter table findings add column dismissed_at timestamptz;
