-- Where the lists of a long answer are put together that an idempotency key keeps: rows live within the transaction that claims the key.
create unlogged table answer_pieces (
  request_id text not null,
  field      text not null,
  place      integer not null,
  elements   jsonb not null,
  primary key (request_id, place)
);
