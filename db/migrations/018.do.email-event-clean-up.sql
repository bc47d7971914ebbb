-- Each statement by itself.
-- What the clean-up looks for every hour is found without reading past what is kept: events that met no e-mail, those that no
-- webhook was notified of, and what still holds something of a provider's words.
create index concurrently if not exists provider_email_events_left on provider_email_events (received_at)
  where applied_at is null and webhook_event is null;
create index concurrently if not exists provider_email_events_untold on provider_email_events (received_at) where webhook_event is null;
create index concurrently if not exists provider_email_events_in_full on provider_email_events (received_at) where payload <> '{}';
