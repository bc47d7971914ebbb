import type { Sql } from '../connection.ts';

/** The answer that an idempotency key keeps: a Message or a BatchResult (v2.3.0). */
interface KeptAnswer {
  requestId: string;
  body: Record<string, unknown>;
}

/**
 * Takes number and text of messages out of the answers that idempotency keys keep. The records stay: a request that comes
 * again within its 24 hours must not be sent again, and is answered with the masked message.
 * @param ids of messages; what is said of others of their requests stays
 */
export async function eraseAnswers(
  sql: Sql,
  ids: readonly string[],
  mask: (msisdn: string) => string,
): Promise<void> {
  const kept = await sql<KeptAnswer[]>`
    select request_id, accepted_body as body from idempotency_keys
     where request_id in (select request_id from messages where id = any(${ids as string[]}))
     order by request_id for update`;
  if (kept.length === 0) return;
  const erased = new Set<unknown>(ids);
  const masked = (message: Record<string, unknown>): Record<string, unknown> =>
    erased.has(message['id']) ? { ...message, to: mask(String(message['to'])), text: '' } : message;
  const bodies = kept.map(({ body }) => {
    const { messages } = body;
    return Array.isArray(messages)
      ? { ...body, messages: (messages as Record<string, unknown>[]).map(masked) }
      : masked(body);
  });
  await sql`
    update idempotency_keys k set accepted_body = e.body
      from unnest(${kept.map(({ requestId }) => requestId)}::text[],
                  ${bodies.map((body) => JSON.stringify(body))}::text[]::jsonb[]) as e(request_id, body)
     where k.request_id = e.request_id`;
}
