-- Single sends that came while another one was being accepted are charged together, by one workflow of their own.

alter table messages
  add column gathered_in text collate "C"; -- the id of that workflow, which starts the message's; null: it was charged otherwise
