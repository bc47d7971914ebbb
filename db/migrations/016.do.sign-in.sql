-- An address that a person gave up stays reserved while the change can be undone.
create index address_changes_of_former on address_changes (address) where confirmed_at is not null;
-- Somebody has it already: nothing to undo.
delete from address_changes c using people p where p.address = c.address and c.confirmed_at is not null;

-- Runs after the unique index, which waits for a change that is giving the address up, so that it sees that change.
create function keep_former_addresses() returns trigger language plpgsql as $$
begin
  if exists (select from address_changes
              where address = new.address and confirmed_at is not null and expires_at > now()) then
    raise unique_violation using message = 'the address is reserved', constraint = 'people_address_key';
  end if;
  return null;
end $$;
create trigger people_address_taken after insert or update of address on people
  for each row execute function keep_former_addresses();

-- Those of before are as old as this line.
alter table recovery_codes add column created_at timestamptz not null default now();

-- Each kind has limits of its own for an address: invitations keep nobody from signing in.
alter table requested_emails
  add column kind text not null default 'sign_in' check (kind in ('sign_in', 'invitation', 'address_change', 'factors'));
