-- Each statement by itself.
-- What an erasure clears is found however many reports there are: those that met a part by its id or by its other form, those that
-- carried our reference, and those that name a phone.
create index concurrently if not exists delivery_reports_applied on delivery_reports (route, provider_message_id)
  where applied_at is not null;
create index concurrently if not exists delivery_reports_applied_alternative on delivery_reports (route, alternative_id)
  where applied_at is not null and alternative_id is not null;
create index concurrently if not exists delivery_reports_of_message on delivery_reports (message_id)
  where applied_at is not null and message_id is not null;
create index concurrently if not exists delivery_reports_of_phone on delivery_reports (phone) where phone is not null;
