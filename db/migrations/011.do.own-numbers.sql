-- Codes that the installation sends to numbers which people want to verify for their accounts.
alter table verifications
  add column for_account text collate "C" references accounts, -- whose number it is to become; null: the account verifies somebody
  add column asked_by text collate "C", -- the person who may confirm it
  add column network inet, -- of that person, for two days; of IPv6 the /64
  add check (num_nulls(for_account, asked_by) in (0, 2));
create index verifications_for_account on verifications (for_account, expires_at) where for_account is not null;
create index verifications_of_own_number on verifications (msisdn) where for_account is not null;
create index verifications_of_network on verifications (network, created_at) where network is not null;
create index verified_numbers_of_number on verified_numbers (msisdn);

-- What the installation has sent to strangers on a Polish day.
create table daily_use (
  name text collate "C" check (name in ('number_codes', 'sign_in_emails')),
  day date,
  used integer not null check (used >= 0),
  primary key (name, day)
);
