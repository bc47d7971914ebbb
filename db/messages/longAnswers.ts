import type { Sql } from '../connection.ts';

// What travels in one statement at most: an answer may hold 500 long texts, and as one parameter it would hold up whoever shares the
// process.
const PIECE_CHARACTERS = 1_000_000;

/** An answer without the elements of its lists, and those lists by their fields. */
export interface TakenApart {
  head: unknown;
  lists: Record<string, readonly unknown[]>;
}

/** Takes the lists out of an answer. */
export function takenApart(body: unknown): TakenApart {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return { head: body, lists: {} };
  const lists: TakenApart['lists'] = {};
  const head: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(body)) {
    head[field] = value;
    if (!Array.isArray(value)) continue;
    lists[field] = value;
    head[field] = [];
  }
  return { head, lists };
}

/** Puts the lists of an answer back into what a claimed key keeps of it, within the transaction that claimed it. */
export async function keepLists(
  tx: Sql,
  { accountId, requestId, key }: { accountId: string; requestId: string; key: string },
  lists: TakenApart['lists'],
): Promise<void> {
  let place = 0;
  for (const [field, elements] of Object.entries(lists)) {
    for (const piece of jsonPieces(elements)) {
      place += 1;
      await tx`
        insert into answer_pieces (request_id, field, place, elements)
        values (${requestId}, ${field}, ${place}, ${piece}::text::jsonb)`;
    }
  }
  await tx`
    with pieces as (
      delete from answer_pieces where request_id = ${requestId} returning field, place, elements
    ), lists as (
      select p.field, jsonb_agg(e.value order by p.place, e.ordinality) as list
        from pieces p cross join jsonb_array_elements(p.elements) with ordinality e
       group by p.field
    )
    update idempotency_keys
       set accepted_body = accepted_body || coalesce((select jsonb_object_agg(field, list) from lists), '{}')
     where account_id = ${accountId} and key = ${key}`;
}

/** A list as several lists in JSON. */
function* jsonPieces(elements: readonly unknown[]): Generator<string> {
  let piece = '';
  for (const element of elements) {
    const json = JSON.stringify(element ?? null);
    if (piece !== '' && piece.length + json.length > PIECE_CHARACTERS) {
      yield `[${piece}]`;
      piece = '';
    }
    piece += piece === '' ? json : `,${json}`;
  }
  if (piece !== '') yield `[${piece}]`;
}
