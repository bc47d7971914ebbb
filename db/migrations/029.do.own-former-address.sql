-- Who gave an address up may take it again; it stays reserved against others.
create or replace function keep_former_addresses() returns trigger language plpgsql as $$
begin
  if exists (select from address_changes
              where address = new.address and person_id <> new.id and confirmed_at is not null and expires_at > now()) then
    raise unique_violation using message = 'the address is reserved', constraint = 'people_address_key';
  end if;
  return null;
end $$;
