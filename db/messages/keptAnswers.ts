import type { Sql } from '../connection.ts';

/** The answer that an idempotency key keeps: a Message or a BatchResult (v2.3.0), or a list response (v1.2.0). */
interface KeptAnswer {
  accountId: string;
  key: string;
  body: unknown;
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
    select account_id, key, accepted_body as body from idempotency_keys
     where request_id in (select request_id from messages where id = any(${ids as string[]}))
     order by account_id, key for update`;
  if (kept.length === 0) return;
  const erased = new Set<unknown>(ids);
  const bodies = kept.map(({ body }) => maskedIn(body, erased, mask));
  await sql`
    update idempotency_keys k set accepted_body = e.body
      from unnest(${kept.map(({ accountId }) => accountId)}::text[], ${kept.map(({ key }) => key)}::text[],
                  ${bodies.map((body) => JSON.stringify(body))}::text[]::jsonb[]) as e(account_id, key, body)
     where k.account_id = e.account_id and k.key = e.key`;
}

/** The same, with whatever in it is one of the messages masked. */
function maskedIn(value: unknown, erased: ReadonlySet<unknown>, mask: (msisdn: string) => string): unknown {
  if (Array.isArray(value)) return value.map((one) => maskedIn(one, erased, mask));
  if (typeof value !== 'object' || value === null) return value;
  if (!('id' in value) || !erased.has(value.id)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, maskedIn(inner, erased, mask)]),
    );
  }
  return {
    ...value,
    ...('to' in value ? { to: mask(String(value.to)) } : {}),
    ...('text' in value ? { text: '' } : {}),
    ...('subject' in value ? { subject: null } : {}),
  };
}
