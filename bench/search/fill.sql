-- A service of some years: 1,000 accounts, the busiest with some percent of everything.
create function pg_temp.made_id(prefix text, n bigint) returns text language sql immutable as
  $$ select prefix || '_01k' || lpad(to_hex(n), 9, '0') || left(md5(n::text), 14) $$;
create function pg_temp.account_of(n bigint) returns text language sql immutable as
  $$ select pg_temp.made_id('cl', 1 + floor(1000 * power(abs(hashint8(n)) / 2147483648.0, 3))::bigint) $$;
create function pg_temp.phone_of(n bigint) returns text language sql immutable as
  $$ select '+48' || 500000000 + abs(hashint8(n) % 1000000) $$;
create function pg_temp.route_of(n bigint) returns text language sql immutable as
  $$ select (array['simulator', 'carrier-a', 'carrier-b'])[1 + (n % 3)::int] $$;

insert into routes (name, kind) values ('carrier-a', 'smpp'), ('carrier-b', 'smpp');
insert into accounts (id, name, mode, contact_email, inbound_prefix, inbound_number)
select pg_temp.made_id('cl', n), 'Sklep ' || n, 'live', 'biuro' || n || '@sklep' || n || '.pl', 'SLOWO' || n, '664400100'
  from generate_series(1::bigint, 1000) n;
insert into senders (account_id, name) select pg_temp.made_id('cl', n), 'Sklep' || n from generate_series(1::bigint, 1000) n;
insert into api_keys (id, account_id, hash, hint, mode, scopes)
select pg_temp.made_id('key', n), pg_temp.made_id('cl', 1 + n % 1000), sha256(n::text::bytea), 'pk_live_' || n, 'live', array['send']
  from generate_series(1::bigint, 5000) n;
insert into people (id, address) select pg_temp.made_id('per', n), 'osoba' || n || '@sklep' || n || '.pl' from generate_series(1::bigint, 3000) n;
insert into memberships (person_id, account_id, role)
select pg_temp.made_id('per', n), pg_temp.made_id('cl', 1 + n % 1000), 'owner' from generate_series(1::bigint, 3000) n;
insert into verified_numbers (account_id, msisdn)
select distinct pg_temp.account_of(n), pg_temp.phone_of(n) from generate_series(1::bigint, 3000) n;
insert into sender_domains (id, account_id, name, dkim_selector, dkim_public_key, dkim_private_key)
select pg_temp.made_id('dom', n), pg_temp.made_id('cl', n), 'sklep' || n || '.pl', 's', 'k', '' from generate_series(1::bigint, 1000) n;
insert into payments (id, account_id, net_grosze, vat_grosze, gross_grosze, buyer, processor, session, reference, state, paid_at)
select pg_temp.made_id('pay', n), pg_temp.account_of(n), 10000, 2300, 12300, '{}', 'stripe', 'cs_live_' || md5(n::text),
       'stripe:pi_' || md5(n::text), 'paid', now()
  from generate_series(1::bigint, 20000) n;

-- Every fifth is of v1.2.0; half have a reference, of which one in ten is the same for all.
insert into messages (id, account_id, request_id, interface, status, accepted_as, submission, recipient, country, sender, text, parts,
                      cost_grosze, reference, idx, give_up_at, route, sent_key, created_at, updated_at)
select pg_temp.made_id('msg', n), pg_temp.account_of(n), pg_temp.made_id('req', n / 2), case n % 5 when 0 then 'v1' else 'v2' end,
       case n % 50 when 0 then 'failed' else 'delivered' end, 'queued', 'answered',
       case n % 200 when 0 then '+48600100200' else pg_temp.phone_of(n) end, 'PL', 'Sklep',
       'Zamowienie ' || n || ' czeka w punkcie odbioru. Kod ' || left(md5(n::text), 6), 1, 15,
       case when n % 20 = 1 then 'newsletter' when n % 2 = 1 then 'order-' || n end,
       case n % 5 when 0 then 'zam-' || n end, now(), pg_temp.route_of(n), n * 1000000,
       timestamptz '2025-01-01' + n * interval '6 s', timestamptz '2025-01-01' + n * interval '6 s'
  from generate_series(1::bigint, 10000000) n;
insert into message_parts (message_id, part, state, route, provider_message_id, submitted_at, answered_at, report_state, reported_at)
select pg_temp.made_id('msg', n), 1, 'accepted', pg_temp.route_of(n), to_hex(n * 2654435761), now(), now(), 'delivered', now()
  from generate_series(1::bigint, 10000000) n;
insert into delivery_reports (route, provider_message_id, state, applied_at, look_at)
select pg_temp.route_of(n), to_hex(n * 2654435761), 'delivered', now(), null from generate_series(9000000::bigint, 10000000) n;
insert into delivery_reports (route, provider_message_id, state, look_at)
select pg_temp.route_of(n), to_hex(n * 2654435761), 'delivered', null from generate_series(10000001::bigint, 10010000) n;

insert into contacts (id, account_id, msisdn, first_name, last_name, email)
select distinct on (pg_temp.account_of(n), '+48' || 500000000 + n)
       pg_temp.made_id('ct', n), pg_temp.account_of(n), '+48' || 500000000 + n, 'Żaneta' || n % 100, 'Kowalska' || n % 1000,
       'klient' || n || '@example.com'
  from generate_series(1::bigint, 1000000) n;
insert into inbound_messages (id, route, provider_reference, sender, receiver, received_text, state, account_id, text, matched_by)
select pg_temp.made_id('in', n), pg_temp.route_of(n), n::text, pg_temp.phone_of(n), '664400100', 'Tak', 'matched', pg_temp.account_of(n),
       'Tak', 'last_message'
  from generate_series(1::bigint, 500000) n where n % 10 > 0
union all
select pg_temp.made_id('in', n), pg_temp.route_of(n), n::text, pg_temp.phone_of(n), '664400100', 'Tak', 'unmatched', null, null, null
  from generate_series(1::bigint, 500000) n where n % 10 = 0;
insert into blacklist (account_id, msisdn, reason)
select distinct pg_temp.account_of(n), pg_temp.phone_of(n), 'stop' from generate_series(1::bigint, 200000) n;
insert into number_lookups (id, account_id, msisdn, route, state, status, cost_grosze, checked_at)
select pg_temp.made_id('hlr', n), pg_temp.account_of(n), pg_temp.phone_of(n), 'simulator', 'done', 'active', 5, now()
  from generate_series(1::bigint, 500000) n;
insert into verifications (id, account_id, msisdn, code_length, sent_at, cost_grosze, expires_at, created_at, updated_at)
select pg_temp.made_id('ver', n), pg_temp.account_of(n), pg_temp.phone_of(n), 6, array[now()], 15, now(), now(), now()
  from generate_series(1::bigint, 100000) n;

insert into emails (id, account_id, request_id, interface, status, submission, route, provider_email_id, domain, from_address, subject,
                    idx, cost_grosze, give_up_at)
select pg_temp.made_id('em', n), pg_temp.account_of(n), pg_temp.made_id('req', 5000000 + n), 'v2', 'delivered', 'answered', 'simulator',
       md5(n::text), 'sklep.pl', 'biuro@sklep.pl', 'Zamówienie ' || n, case n % 2 when 0 then 'mail-' || n end, 1, now()
  from generate_series(1::bigint, 1000000) n;
insert into email_recipients (email_id, position, account_id, kind, address, state)
select pg_temp.made_id('em', n), 0, pg_temp.account_of(n), 'to', 'klient' || n % 300000 || '@example.com', 'delivered'
  from generate_series(1::bigint, 1000000) n;
insert into suppressions (account_id, address, reason)
select distinct pg_temp.account_of(n), 'klient' || n || '@example.com', 'bounce' from generate_series(1::bigint, 100000) n;
insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot, state)
select pg_temp.made_id('evt', n), pg_temp.account_of(n), 'message', pg_temp.made_id('msg', n), 'message.delivered', '{}', 'delivered'
  from generate_series(1::bigint, 1000000) n;
