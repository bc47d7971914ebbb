-- Each statement by itself.
-- Staff find a message of v1.2.0 by what its caller called it, and a contact by its address, over all accounts. What else they are told has
-- an index already, some by account or route, of which there are few. Messages of the current interface have no idx, and cost nothing.
create index concurrently if not exists messages_idx on messages (idx) where idx is not null;
create index concurrently if not exists contacts_email on contacts (lower(email)) where email is not null;
