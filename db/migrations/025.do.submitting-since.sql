-- When a worker first saw that the provider takes parts or e-mails: from then on reports of them are awaited.
alter table route_states add column submitting_since timestamptz;
