-- Each statement by itself.
-- A receipt may name one id in its TLV and another one in its text, in two notations each.
alter table delivery_reports add column if not exists other_ids text[] collate "C" not null default '{}';
create index concurrently if not exists delivery_reports_other_ids on delivery_reports using gin (other_ids)
  where other_ids <> '{}';
-- Parts of a long reply are joined before their encoding is known.
alter table reply_parts drop constraint if exists reply_parts_encoding_check,
  add constraint reply_parts_encoding_check check (encoding in ('gsm7', 'ucs2', 'latin1', 'binary'));
