-- What tool calls sent on a Polish day without the user's confirmation; `grosze` counts for keys with a budget only.
alter table tool_spending
  add column unconfirmed_recipients integer not null default 0 check (unconfirmed_recipients >= 0),
  add column unconfirmed_grosze bigint not null default 0 check (unconfirmed_grosze >= 0);
